import type { BuiltinModel } from '../builtin-model.ts'

/**
 * The landmark positions of the alignment by dlib's `get_face_chip_details`: `[landmark of 68, x, y]`
 * as fractions of the crop without its padding. They are the nose, the eyes, the outer lip to its right
 * corner and the upper inner lip of dlib's mean face shape (landmarks 27 to 54 and 60 to 64). dlib
 * leaves the rest of the lips, the brows and the chin out of the fit.
 */
const dlibChipPoints = [
  [27, 0.490127, 0.203352],
  [28, 0.490127, 0.307009],
  [29, 0.490127, 0.409805],
  [30, 0.490127, 0.515625],
  [31, 0.36688, 0.587326],
  [32, 0.426036, 0.609345],
  [33, 0.490127, 0.628106],
  [34, 0.554217, 0.609345],
  [35, 0.613373, 0.587326],
  [36, 0.121737, 0.216423],
  [37, 0.187122, 0.178758],
  [38, 0.265825, 0.179852],
  [39, 0.334606, 0.231733],
  [40, 0.260918, 0.245099],
  [41, 0.182743, 0.244077],
  [42, 0.645647, 0.231733],
  [43, 0.714428, 0.179852],
  [44, 0.793132, 0.178758],
  [45, 0.858516, 0.216423],
  [46, 0.79751, 0.244077],
  [47, 0.719335, 0.245099],
  [48, 0.254149, 0.780233],
  [49, 0.340985, 0.745405],
  [50, 0.428858, 0.727388],
  [51, 0.490127, 0.742578],
  [52, 0.551395, 0.727388],
  [53, 0.639268, 0.745405],
  [54, 0.726104, 0.780233],
  [60, 0.290379, 0.784792],
  [61, 0.428096, 0.778746],
  [62, 0.490127, 0.785343],
  [63, 0.552157, 0.778746],
  [64, 0.689874, 0.784792],
] as const

/** An embedding of a face, aligned as by dlib's `get_face_chip`. */
export const faceRecognition = {
  id: 'face_recognition',
  version: '1',
  roles: ['recognizer'],
  artifact: {
    file: 'face_recognition.onnx',
    sha256: 'a78b780cf11f91a4cff5da9d39f6b90785a6e19a4cd5609e1b96e5ec6d3227a6',
  },
  int8: {
    artifact: {
      file: 'face_recognition.int8.onnx',
      sha256: '441e1c4da54c89974efa5e426ebf1f1a4a34acd4233940687834fa709c884fd3',
    },
    ranges: {
      Relu_4: [0, 6.318],
      Relu_6: [0, 4.986],
      Conv_7: [-7.356, 4.352],
      Relu_9: [0, 7.146],
      Relu_11: [0, 4.93],
      Conv_12: [-9.369, 9.189],
      Relu_14: [0, 13.27],
      Relu_16: [0, 6.717],
      Conv_17: [-9.927, 10.23],
      Relu_19: [0, 16.87],
      Relu_21: [0, 7.338],
      Conv_22: [-5.051, 7.648],
      AveragePool_23: [0, 12.12],
      Pad_24: [0, 12.12],
      Relu_26: [0, 11.06],
      Relu_28: [0, 6.198],
      Conv_29: [-4.577, 6.954],
      Relu_31: [0, 13.63],
      Relu_33: [0, 4.724],
      Conv_34: [-6.414, 8.493],
      Relu_36: [0, 18.09],
      Relu_38: [0, 5.236],
      Conv_39: [-5.17, 5.699],
      Relu_41: [0, 15.52],
      Relu_43: [0, 6.059],
      Conv_44: [-3.779, 6.993],
      AveragePool_45: [0, 9.612],
      Pad_46: [0, 9.612],
      Relu_48: [0, 7.818],
      Relu_50: [0, 3.817],
      Conv_51: [-3.794, 3.811],
      Relu_53: [0, 8.28],
      Relu_55: [0, 4.422],
      Conv_56: [-4.629, 4.573],
      Relu_58: [0, 8.288],
      Relu_60: [0, 4.763],
      Conv_61: [-4.592, 15.32],
      AveragePool_62: [0, 4.243],
      Pad_63: [0, 4.243],
      Pad_64: [-4.592, 15.32],
      Relu_66: [0, 15.32],
      Relu_68: [0, 4.379],
      Conv_69: [-8.406, 3.433],
      Relu_71: [0, 12.46],
      Relu_73: [0, 3.216],
      Conv_74: [-3.116, 2.686],
      Relu_76: [0, 9.898],
      Relu_78: [0, 4.903],
      Conv_79: [-2.369, 1.798],
      AveragePool_80: [0, 4.486],
      Pad_81: [-2.369, 1.798],
      Relu_83: [0, 4.486],
    },
    means: 'face-recognition.means.f16',
    golden: {
      embedding: {
        samples: [
          -0.0833519, 0.103254, -0.03282, -0.282687, -0.00877338, 0.0153066, 0.162781, 0.0377534,
          0.127936, 0.370595, 0.00560503, 0.0177747, 0.0367168, -0.0770218, 0.12067, -0.017501,
        ],
        meanAbsolute: 0.0885683,
        tolerance: 0.00885683,
      },
    },
  },
  source: {
    package: '@vladmandic/face-api',
    manifest: {
      path: 'model/face_recognition_model-weights_manifest.json',
      sha256: 'cbaffa501b0b9275a12b63357a6843e7e30c054e1c9151e1a5f879b26e32986b',
    },
    weights: {
      path: 'model/face_recognition_model.bin',
      sha256: 'b413e420d6840b2775fba32008db6f3cddb07d485967fb42cfcf379c16a8c589',
    },
    conversion: { from: 'face-api', network: 'face_recognition' },
  },
  provenance: {
    origin: "dlib's ResNet, weights trained by davisking (TUTORIAL.md)",
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'ten-fold accuracy, averaged with the mirrored face, without faceres',
      on: 'LFW, 6,000 pairs',
      value: '99.12 ± 0.14 %',
      how: 'quoted',
    },
    {
      what: 'TAR at FAR 1e-4, 1e-5, averaged with the mirrored face, without faceres',
      on: 'LFW, 23.75 million pairs of different people',
      value: '74.6, 49.4 %',
      how: 'quoted',
    },
    { what: 'one face, one thread', on: '150×150', value: '6.3 ms', how: 'quoted' },
  ],
  notFor:
    'Galleries of more than a few hundred people; decisions about a person without human review.',
  input: {
    name: 'input',
    width: 150,
    height: 150,
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [
    {
      name: 'embedding',
      shape: [128],
      meaning: 'embedding of the face, not normalised; compare by Euclidean distance',
    },
  ],
  constants: {
    /** The crop is the aligned template plus a border of this fraction of its side. */
    cropPadding: 0.25,
    template: dlibChipPoints,
    dimensions: 128,
  },
  golden: {
    embedding: {
      samples: [
        -0.0847785, 0.0995176, -0.0319873, -0.283204, -0.0101106, 0.0184116, 0.161784, 0.0349257,
        0.12369, 0.368124, 0.00778554, 0.0166788, 0.0378306, -0.0757726, 0.119504, -0.0146829,
      ],
      meanAbsolute: 0.0883511,
      tolerance: 0.000176702,
    },
  },
} as const satisfies BuiltinModel
