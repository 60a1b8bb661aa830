import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** Finds faces; best for faces near the camera. The "back" variant of BlazeFace, 256 px. */
export const blazeface = {
  id: 'blazeface',
  ...data.blazeface,
  version: '2',
  roles: ['detector'],
  source: {
    ...data.blazeface.source,
    conversion: { from: 'tfjs-graph', isAnySize: true },
  },
  input: { ...data.blazeface.input, colourOrder: 'RGB' },
  constants: {
    /** Anchors are in the centre of each cell, row by row, several at the same place. */
    anchors: [
      { stridePx: 16, perCell: 2, logits: 'Identity', boxes: 'Identity_2' },
      { stridePx: 32, perCell: 6, logits: 'Identity_1', boxes: 'Identity_3' },
    ],
    /** From this IoU on, the box with the lower score is dropped. */
    overlapMax: 0.3,
  },
} as const satisfies BuiltinModel
