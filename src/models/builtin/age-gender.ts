import type { ModelEntry } from '../manifest.ts'

/** Age and gender from the tight box; averaged with `faceres`. */
export const ageGender = {
  id: 'age_gender',
  version: '1',
  roles: ['attributes'],
  product: {
    file: 'age_gender.onnx',
    sha256: '',
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
    origin: 'face-api, its own network (TUTORIAL.md)',
    licence:
      "MIT (LICENSE of @vladmandic/face-api, for the package as a whole; none of the weights' own)",
    trainingData: 'UTK, FGNET, Chalearn, Wiki, IMDB, CACD, MegaAge, MegaAge-Asian (TUTORIAL.md)',
  },
  input: {
    name: 'input',
    width: 112,
    height: 112,
    layout: 'NCHW',
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [
    { name: 'age', shape: [1], meaning: 'years' },
    { name: 'gender', shape: [2], meaning: 'probabilities of male and female, summing to 1' },
  ],
  recipe: {
    /** The tight square box: a crop of 1.2 doubles the error of the age. */
    cropFactor: 1,
    genders: ['male', 'female'],
  },
  golden: {},
} as const satisfies ModelEntry
