package webhooks

// Sign is the signature of one secret.
var Sign = sign
