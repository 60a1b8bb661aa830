import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** Whether a face is live or shown on paper or a screen: a weak signal, never sufficient on its own. */
export const liveness = {
  id: 'liveness',
  ...data.liveness,
  version: '1',
  roles: ['liveness'],
  source: {
    ...data.liveness.source,
    conversion: { from: 'tfjs-graph', outputs: { probabilities: 'Identity' } },
  },
  input: { ...data.liveness.input, colourOrder: 'RGB' },
  constants: {
    /**
     * Square crops about the centre of the face, `cropFactor` times its longer side, and the weight of
     * the log-odds of "live" of each crop in the sum: fitted by eval/fit-liveness.ts.
     */
    crops: [
      { cropFactor: 0.8, weight: 0.226 },
      { cropFactor: 1, weight: 0.177 },
      { cropFactor: 1.2, weight: 0.098 },
      { cropFactor: 1.4, weight: 0.076 },
      { cropFactor: 1.7, weight: 0.151 },
      { cropFactor: 2, weight: 0.065 },
    ],
    bias: -2.702,
    /** A face is live from `liveMin` on and a spoof below `spoofMax`; see docs/liveness.md. */
    liveMin: 0.9,
    spoofMax: 0.08,
    /** The minimum ratio of image size to face size, in width and in height. */
    contextMin: 1.5,
  },
} as const satisfies BuiltinModel
