import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }
import points from './points.json' with { type: 'json' }

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
    /**
     * The landmark positions of the alignment by dlib's `get_face_chip_details`: `[landmark of 68, x, y]`
     * as fractions of the crop without its padding. They are the nose, the eyes, the outer lip to its
     * right corner and the upper inner lip of dlib's mean face shape (landmarks 27 to 54 and 60 to 64).
     * dlib leaves the rest of the lips, the brows and the chin out of the fit.
     */
    template: points.dlibChipPoints,
    dimensions: 128,
  },
} as const satisfies BuiltinModel
