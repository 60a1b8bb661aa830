import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

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
  ...data.face_recognition,
  version: '1',
  roles: ['recognizer'],
  source: {
    ...data.face_recognition.source,
    conversion: { from: 'face-api', network: 'face_recognition' },
  },
  input: { ...data.face_recognition.input, colourOrder: 'RGB' },
  constants: {
    /** The crop is the aligned template plus a border of this fraction of its side. */
    cropPadding: 0.25,
    template: dlibChipPoints,
    dimensions: 128,
  },
} as const satisfies BuiltinModel
