package playout

// EmergencySize is that of our own emergency audio, in bytes.
const EmergencySize = 44 + emergencyRate*emergencySeconds*4
