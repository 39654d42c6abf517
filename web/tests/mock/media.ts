import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A minute of sound as real ffmpeg makes it: HLS segments (AAC in fMP4), one Ogg Vorbis stream and one MP3. */
export interface Media {
  init: Buffer;
  segments: { body: Buffer; seconds: number }[];
  ogg: Buffer;
  /** Of one bit rate and without a header: as often as it is repeated, it is one sound. */
  mp3: Buffer;
  seconds: number;
}

const seconds = 60;

export function makeMedia(): Media {
  const dir = mkdtempSync(join(tmpdir(), 'athir-pages-'));
  try {
    const sound = `aevalsrc=0.3*sin(2*PI*220*t)*(1+sin(2*PI*0.5*t))+0.1*sin(2*PI*440*t):s=44100:d=${seconds}`;
    const ffmpeg = (...args: string[]) =>
      execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', sound, '-ac', '2', ...args], { cwd: dir });
    ffmpeg(
      ...['-c:a', 'aac', '-b:a', '128k', '-f', 'hls', '-hls_time', '1', '-hls_list_size', '0'],
      ...['-hls_segment_type', 'fmp4', '-hls_segment_filename', 'seg%03d.mp4', 'list.m3u8'],
    );
    ffmpeg('-c:a', 'libvorbis', '-q:a', '3', '-f', 'ogg', 'stream.ogg');
    ffmpeg('-ac', '1', '-ar', '22050', '-c:a', 'libmp3lame', '-b:a', '32k', '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3', 'minute.mp3');
    const names = readdirSync(dir).filter((name) => name.startsWith('seg')).sort();
    const lengths = [...readFileSync(join(dir, 'list.m3u8'), 'utf8').matchAll(/#EXTINF:([\d.]+)/g)];
    return {
      init: readFileSync(join(dir, 'init.mp4')),
      segments: names.map((name, i) => ({ body: readFileSync(join(dir, name)), seconds: Number(lengths[i]?.[1]) })),
      ogg: readFileSync(join(dir, 'stream.ogg')),
      mp3: readFileSync(join(dir, 'minute.mp3')),
      seconds,
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
