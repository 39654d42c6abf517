import type { Language } from '../text/format';
import { arIntake } from './intake.ar';
import { enIntake, type IntakeWords } from './intake.en';

export const intakeWords: Record<Language, IntakeWords> = { ar: arIntake, en: enIntake };
