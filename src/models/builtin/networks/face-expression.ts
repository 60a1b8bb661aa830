import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** Seven expressions from a colour crop; the result is averaged with `emotion`. */
export const faceExpression = {
  id: 'face_expression',
  ...data.face_expression,
  version: '1',
  roles: ['attributes'],
  source: {
    ...data.face_expression.source,
    conversion: { from: 'face-api', network: 'face_expression' },
  },
  input: { ...data.face_expression.input, colourOrder: 'RGB' },
  constants: {
    cropFactor: 1,
    labels: ['neutral', 'happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised'],
  },
} as const satisfies BuiltinModel
