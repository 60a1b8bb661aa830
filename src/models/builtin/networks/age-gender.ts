import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/**
 * Age and gender from the tight box. Its age is averaged with the age of `faceres`. Its gender is not
 * used: it has more errors (221 of 233 correct, `faceres` 232), and so has the average of both.
 */
export const ageGender = {
  id: 'age_gender',
  ...data.age_gender,
  version: '1',
  roles: ['attributes'],
  source: {
    ...data.age_gender.source,
    conversion: { from: 'face-api', network: 'age_gender' },
  },
  input: { ...data.age_gender.input, colourOrder: 'RGB' },
  constants: {
    /** The tight square box: the factor 1.2 doubles the error of the age. */
    cropFactor: 1,
  },
} as const satisfies BuiltinModel
