/** The sides of the squares in which the station keeps pictures, in pixels. */
export const coverSizes = [96, 320, 640] as const;

export const coverURL = (id: string, size: number): string => `/api/library/covers/${encodeURIComponent(id)}?size=${size}`;

export const coverSet = (id: string): string => coverSizes.map((size) => `${coverURL(id, size)} ${size}w`).join(', ');
