import type { BuiltinModel } from '../builtin-model.ts'

/** A second embedding, the age and the gender from one aligned crop. */
export const faceres = {
  id: 'faceres',
  version: '1',
  roles: ['recognizer', 'attributes'],
  artifact: {
    file: 'faceres.onnx',
    sha256: '0cb1fcadc4e87adbc383c838f9d543708d2ce5abda4dd58108c7c98141531c01',
  },
  int8: {
    artifact: {
      file: 'faceres.int8.onnx',
      sha256: '477d1a2ace3ef190fac667279bfc59b9756cce6fa171e1054f74d99307db6f91',
    },
    ranges: {
      Clip_6: [0, 6],
      Clip_9: [0, 6],
      Clip_13: [0, 6],
      Clip_16: [0, 6],
      Clip_20: [0, 6],
      Clip_23: [0, 6],
      Clip_27: [0, 6],
      Clip_30: [0, 6],
      Clip_34: [0, 6],
      Clip_37: [0, 6],
      Clip_41: [0, 6],
      Clip_44: [0, 6],
      Clip_48: [0, 6],
      Clip_51: [0, 6],
      Clip_55: [0, 6],
      Clip_58: [0, 6],
      Clip_62: [0, 6],
      Clip_65: [0, 6],
      Clip_69: [0, 6],
      Clip_72: [0, 6],
      Clip_76: [0, 6],
      Clip_79: [0, 6],
      Clip_83: [0, 6],
      Clip_86: [0, 6],
      Clip_90: [0, 6],
      Clip_93: [0, 6],
    },
    means: 'faceres.means.f16',
    golden: {
      age: {
        samples: [
          0.0193229, 0.00994336, 0.00993116, 0.0168994, 0.0216744, 0.0220154, 0.0169066, 0.0110031,
          0.00885589, 0.00626327, 0.0037222, 0.00328126, 0.0024069, 0.00172279, 0.00133878,
          0.00146212,
        ],
        meanAbsolute: 0.01,
        tolerance: 0.001,
      },
      embedding: {
        samples: [0, 0, 0, 0, 0.104202, 0, 0, 0, 0, 0, 0, 0, 0.892677, 0, 0, 0],
        meanAbsolute: 0.0135729,
        tolerance: 0.00135729,
      },
      gender: { samples: [0.638047], meanAbsolute: 0.638047, tolerance: 0.0638047 },
    },
  },
  source: {
    package: '@vladmandic/human',
    manifest: {
      path: 'models/faceres.json',
      sha256: '5b83d49c0385d2e68a05122441b94226313677cae9fcc40b9587ad50079eb4df',
    },
    weights: {
      path: 'models/faceres.bin',
      sha256: '2c7d2d62b76c97528b736527aa09d310ea71743c9e3e79fb6c62d4b2d73af79b',
    },
    conversion: {
      from: 'tfjs-graph',
      outputs: {
        age: 'age_pred/Softmax',
        embedding: 'global_pooling/Mean',
        gender: 'gender_pred/Sigmoid',
      },
    },
  },
  provenance: {
    origin:
      'HSE_FaceRec_tf: generatedBy https://github.com/HSE-asavchenko/HSE_FaceRec_tf (models/faceres.json)',
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'ten-fold accuracy, averaged with the mirrored face, without face_recognition',
      on: 'LFW, 6,000 pairs',
      value: '98.53 ± 0.18 %',
      how: 'quoted',
    },
    {
      what: 'age, mean error, 16 to 70 years',
      on: 'UTKFace, 878 pictures',
      value: '6.4 years',
      how: 'quoted',
    },
    { what: 'sex', on: 'LFW and celebrities, 177 pictures', value: '98.9 %', how: 'quoted' },
    { what: 'one face, one thread', on: '224×224', value: '13.3 ms', how: 'quoted' },
  ],
  notFor: 'Age checks for purchases, entry or content; any use of gender beyond an impression.',
  input: {
    name: 'input_1',
    width: 224,
    height: 224,
    colourOrder: 'BGR',
    mean: [103.939, 116.779, 123.68],
    scale: 1,
  },
  outputs: [
    { name: 'age', shape: [100], meaning: 'probability of each age, 0 to 99 years' },
    { name: 'embedding', shape: [1024], meaning: 'embedding of the face, not normalised' },
    { name: 'gender', shape: [1], meaning: 'probability that the face is male, 0..1' },
  ],
  constants: {
    /** Scale of the ArcFace template about the centre of the crop; the face is aligned to it by five points. */
    templateScale: 0.8,
    dimensions: 1024,
    /** The template scale for age and gender: the face is slightly larger in the crop. */
    attributesTemplateScale: 0.9,
    /**
     * From this probability on the face is reported as male. The network is biased towards "male". This
     * value separates 113 women and 120 men of LFW best: at 0.5, seven women are classified as men;
     * here the only error is one boy that the list labels female (`facegate evaluate attributes`,
     * docs/accuracy.md).
     */
    maleBorder: 0.635,
  },
  golden: {
    age: {
      samples: [
        0.0203792, 0.00992928, 0.00996123, 0.0169442, 0.02171, 0.0219758, 0.0167327, 0.0108512,
        0.00873589, 0.00608483, 0.0036056, 0.00316051, 0.00234946, 0.00167547, 0.00130131,
        0.0014321,
      ],
      meanAbsolute: 0.01,
      tolerance: 0.00002,
    },
    embedding: {
      samples: [0, 0, 0, 0, 0.114439, 0, 0, 0, 0, 0, 0, 0, 0.924436, 0, 0, 0],
      meanAbsolute: 0.0140791,
      tolerance: 0.0000281583,
    },
    gender: { samples: [0.64188], meanAbsolute: 0.64188, tolerance: 0.00128376 },
  },
} as const satisfies BuiltinModel
