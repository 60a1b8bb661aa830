import { antispoofingBin } from './catalogue/antispoofing-bin.ts'
import { auraface } from './catalogue/auraface.ts'
import { buffaloL } from './catalogue/buffalo-l.ts'
import { mobilefacenet } from './catalogue/mobilefacenet.ts'
import { opencvZoo } from './catalogue/opencv-zoo.ts'
import { recommended } from './catalogue/recommended.ts'
import { scrfd25g } from './catalogue/scrfd-2.5g.ts'
import { packManifest, type PackManifest } from './pack.ts'

/**
 * Public packs that people use, each with its address, what its source says of its licence, and the
 * constants that its networks need. Nothing of them ships with the service; the first is the one to
 * begin with.
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
