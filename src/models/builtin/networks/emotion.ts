import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** Seven expressions from a grey crop; the result is averaged with `faceExpression`. */
export const emotion = {
  id: 'emotion',
  ...data.emotion,
  version: '1',
  roles: ['attributes'],
  source: {
    ...data.emotion.source,
    conversion: { from: 'tfjs-graph', outputs: { probabilities: 'Identity' } },
  },
  input: { ...data.emotion.input, colourOrder: 'grey' },
  constants: {
    cropFactor: 1,
    labels: ['angry', 'disgusted', 'fearful', 'happy', 'sad', 'surprised', 'neutral'],
  },
} as const satisfies BuiltinModel
