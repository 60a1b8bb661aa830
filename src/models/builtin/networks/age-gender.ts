import type { BuiltinModel } from '../builtin-model.ts'
import measured from './measured-values.json' with { type: 'json' }

/**
 * Age and gender from the tight box. Its age is averaged with the age of `faceres`. Its gender is not
 * used: it has more errors (221 of 233 correct, `faceres` 232), and so has the average of both.
 */
export const ageGender = {
  id: 'age_gender',
  version: '1',
  roles: ['attributes'],
  artifact: {
    file: 'age_gender.onnx',
    sha256: 'ddd6a3ed72c251df3f367a505bf8cd36194a9c0e00016d76f1347cd21888a1e2',
  },
  source: {
    package: '@vladmandic/face-api',
    manifest: {
      path: 'model/age_gender_model-weights_manifest.json',
      sha256: '74b60bf3ebf981bf4e661e9cca3a185614e10b25d797118b62e2a68d3ff2569f',
    },
    weights: {
      path: 'model/age_gender_model.bin',
      sha256: '49f92bbc0afef2342c4385e4a2b0acb6d7a727c6f0aa539499719a81acf9abaa',
    },
    conversion: { from: 'face-api', network: 'age_gender' },
  },
  provenance: {
    origin: 'a network of face-api (TUTORIAL.md)',
    trainingData: 'UTK, FGNET, Chalearn, Wiki, IMDB, CACD, MegaAge, MegaAge-Asian (TUTORIAL.md)',
  },
  measured: [
    {
      what: 'age, mean error, 16 to 70 years',
      on: 'UTKFace, 878 pictures, some of them in its training data',
      value: '6.5 years',
      how: 'quoted',
    },
    { what: 'sex', on: 'LFW and celebrities, 177 pictures', value: '98.3 %', how: 'quoted' },
  ],
  notFor: 'Age checks for purchases, entry or content; any use of gender beyond an impression.',
  input: {
    name: 'input',
    width: 112,
    height: 112,
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [
    { name: 'age', shape: [1], meaning: 'years' },
    { name: 'gender', shape: [2], meaning: 'probabilities of male and female, sum 1' },
  ],
  constants: {
    /** The tight square box: the factor 1.2 doubles the error of the age. */
    cropFactor: 1,
  },
  golden: measured.age_gender.golden,
} as const satisfies BuiltinModel
