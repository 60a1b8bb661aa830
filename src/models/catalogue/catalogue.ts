import { antispoofingBin } from './antispoofing-bin.ts'
import { auraface } from './auraface.ts'
import { buffaloL } from './buffalo-l.ts'
import { mobilefacenet } from './mobilefacenet.ts'
import { opencvZoo } from './opencv-zoo.ts'
import { recommended } from './recommended.ts'
import { scrfd25g } from './scrfd-2.5g.ts'
import { packManifest, type PackManifest } from '../pack-manifest.ts'

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
