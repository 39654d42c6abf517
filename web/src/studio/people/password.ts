/** So long a password is at least, as the station holds it. */
export const leastPassword = 12;
