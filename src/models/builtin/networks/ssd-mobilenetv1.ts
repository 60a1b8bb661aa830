import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** The six shapes of an anchor: two squares, and rectangles of the proportions 2, 1/2, 3 and 1/3. */
function anchorShapes(side: number, largerSide: number): readonly (readonly [number, number])[] {
  const rectangle = (proportion: number): readonly [number, number] => [
    side * Math.sqrt(proportion),
    side / Math.sqrt(proportion),
  ]
  return [
    [side, side],
    [largerSide, largerSide],
    rectangle(2),
    rectangle(1 / 2),
    rectangle(3),
    rectangle(1 / 3),
  ]
}

/** Finds faces; best for small faces in groups. Misses faces that fill the image. */
export const ssdMobilenetv1 = {
  id: 'ssd_mobilenetv1',
  ...data.ssd_mobilenetv1,
  version: '2',
  roles: ['detector'],
  source: {
    ...data.ssd_mobilenetv1.source,
    conversion: { from: 'face-api', network: 'ssd_mobilenetv1' },
  },
  input: { ...data.ssd_mobilenetv1.input, colourOrder: 'RGB' },
  constants: {
    /**
     * The feature maps with predictions. Anchors are in the centre of each cell, row by row. Shapes:
     * width and height as shares of 512 px.
     */
    layers: [
      {
        stridePx: 16,
        shapes: [
          [0.1, 0.1],
          [0.282843, 0.141421],
          [0.141421, 0.282843],
        ],
      },
      { stridePx: 32, shapes: anchorShapes(0.35, 0.41833) },
      { stridePx: 64, shapes: anchorShapes(0.5, 0.570088) },
      { stridePx: 128, shapes: anchorShapes(0.65, 0.72111) },
      { stridePx: 256, shapes: anchorShapes(0.8, 0.87178) },
      { stridePx: 512, shapes: anchorShapes(0.95, 0.974679) },
    ],
    /** From this IoU on, the box with the lower score is dropped. */
    overlapMax: 0.5,
  },
} as const satisfies BuiltinModel
