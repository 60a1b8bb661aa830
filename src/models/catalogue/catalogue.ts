import antispoofingBin from './antispoofing-bin.json' with { type: 'json' }
import auraface from './auraface.json' with { type: 'json' }
import buffaloL from './buffalo-l.json' with { type: 'json' }
import mobilefacenet from './mobilefacenet.json' with { type: 'json' }
import opencvZoo from './opencv-zoo.json' with { type: 'json' }
import recommended from './recommended.json' with { type: 'json' }
import scrfd25g from './scrfd-2.5g.json' with { type: 'json' }
import { packManifest, type PackManifest } from '../pack-manifest.ts'

/** The folder of the files that packs of the catalogue contain: cohorts. */
export const catalogueFolder = import.meta.dirname

/**
 * Public packs, each with its download addresses, the licence as its source states it, and the
 * constants of its networks, in the format of `pack.json`. No network of them is part of the service.
 * The first one is the recommended start. The sources of the constants are:
 *
 * - `recommended`: for the networks of minivision crop factors, colour order and classes of `test.py`
 *   and `src/generate_patches.py` of its repository. YuNet's `confirmBelow` finds 196 of 205 held-out
 *   faces and 1 false one instead of 177 and 0 (199 and 3 below 0.85). Its `boxToFace` is the median
 *   over 416 faces that the built-in detector also found (docs/accuracy.md).
 * - `opencv-zoo`: FaceDetectorYN and FaceRecognizerSF. The graph of the recognizer subtracts the mean
 *   and applies the scale.
 * - `auraface`: `arcface_onnx.py` of InsightFace, whose format it has.
 * - `antispoofing-bin`: `src/FaceAntiSpoofing.py` of hairymax.
 * - `mobilefacenet`: a conversion of foamliu's network without a download address, whose file the user
 *   provides.
 * - `scrfd-2.5g`: `scrfd.py` of InsightFace. With its `confirmBelow`, 750 instead of 628 of 808 drawn
 *   masks are found, without a false detection. Its `boxToFace` is the median over 415 faces that the
 *   built-in detector also found (docs/accuracy.md).
 * - `buffalo-l`: `scrfd.py` and `arcface_onnx.py` of InsightFace.
 */
export const catalogue: readonly PackManifest[] = [
  recommended,
  opencvZoo,
  auraface,
  antispoofingBin,
  mobilefacenet,
  scrfd25g,
  buffaloL,
].map((manifest) => packManifest.parse(manifest))
