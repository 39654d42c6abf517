/** A picture made ready to be sent. */
export interface Picture {
  blob: Blob;
  url: string;
  width: number;
  height: number;
}

const longestSide = 1600;
const mostBytes = 1_200_000;

/** The size that fits: as it is, or with its longer side at most so long. */
export function fitted(width: number, height: number, side = longestSide): { width: number; height: number } {
  const scale = Math.min(1, side / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/**
 * Draws a picture anew, no larger than fits: what else the file held (where it
 * was taken, by whom) stays on the device. Rejects what is no picture.
 */
export async function prepare(file: Blob): Promise<Picture> {
  const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' });
  try {
    const { width, height } = fitted(bitmap.width, bitmap.height);
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
    pen.fillStyle = '#fff'; // behind what is transparent: JPEG knows no such thing
    pen.fillRect(0, 0, width, height);
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(bitmap, 0, 0, width, height);
    let blob: Blob | null = null;
    for (const quality of [0.85, 0.7, 0.5, 0.3]) {
      blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/jpeg', quality));
      if (blob && blob.size <= mostBytes) break;
    }
    if (!blob) throw new Error('the picture could not be drawn');
    return { blob, url: URL.createObjectURL(blob), width, height };
  } finally {
    bitmap.close();
  }
}

/** The first picture among what was pasted, dropped or picked. */
export function pictureIn(data: DataTransfer | null): File | null {
  return [...(data?.files ?? [])].find((file) => file.type.startsWith('image/')) ?? null;
}
