import type { BuiltinModelId, ModelConstants } from '../builtin-model.ts'
import points from './points.json' with { type: 'json' }

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

/**
 * The constants of each network that depend on its weights: anchors, crop factors, the order of labels.
 * `networks.json` contains all other facts.
 */
export const constants = {
  /** Finds faces; best for faces near the camera. The "back" variant of BlazeFace, 256 px. */
  blazeface: {
    /** Anchors are in the centre of each cell, row by row, several at the same place. */
    anchors: [
      { stridePx: 16, perCell: 2, logits: 'Identity', boxes: 'Identity_2' },
      { stridePx: 32, perCell: 6, logits: 'Identity_1', boxes: 'Identity_3' },
    ],
    /** From this IoU on, the box with the lower score is dropped. */
    overlapMax: 0.3,
  },
  /** Finds faces; best for small faces in groups. Misses faces that fill the image. */
  ssd_mobilenetv1: {
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
  /** Finds 68 points of a face in a crop. They are rough, but sufficient to rotate the face upright. */
  face_landmark_68: {
    /** The crop is a square with the longer side of the box, about its centre. */
    cropFactor: 1,
  },
  /**
   * Finds 468 points in 3D from an upright crop. The contours of eyes and lips, output Identity of the
   * source, are not used.
   */
  facemesh: {
    /** The crop is a square, 1.5 times the longer side of the box around the 68 landmarks. */
    cropFactor: 1.5,
    /** The centre of the crop is the centre of the box, moved along y by this fraction of the longer side. */
    centreShift: -0.1,
    /** The index of the mesh point (0..467) at each of the 68 landmarks of the iBUG order. */
    landmarks68: points.landmarks68,
  },
  /** An embedding of a face, aligned as by dlib's `get_face_chip`. */
  face_recognition: {
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
  /** A second embedding, the age and the gender from one aligned crop. */
  faceres: {
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
  /** Seven expressions from a colour crop; the result is averaged with `emotion`. */
  face_expression: {
    cropFactor: 1,
    labels: ['neutral', 'happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised'],
  },
  /** Seven expressions from a grey crop; the result is averaged with `face_expression`. */
  emotion: {
    cropFactor: 1,
    labels: ['angry', 'disgusted', 'fearful', 'happy', 'sad', 'surprised', 'neutral'],
  },
  /**
   * Age and gender from the tight box. Its age is averaged with the age of `faceres`. Its gender is not
   * used: it has more errors (221 of 233 correct, `faceres` 232), and so has the average of both.
   */
  age_gender: {
    /** The tight square box: the factor 1.2 doubles the error of the age. */
    cropFactor: 1,
  },
  /** Whether a face is live or shown on paper or a screen: a weak signal, never sufficient on its own. */
  liveness: {
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
} as const satisfies Readonly<Record<BuiltinModelId, ModelConstants>>
