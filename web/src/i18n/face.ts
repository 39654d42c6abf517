import type { Language } from '../text/format';
import { arFace } from './face.ar';
import { enFace, type FaceWords } from './face.en';

export const faceWords: Record<Language, FaceWords> = { ar: arFace, en: enFace };
