import { antispoofingBin } from './antispoofing-bin.ts'
import { auraface } from './auraface.ts'
import { buffaloL } from './buffalo-l.ts'
import { mobilefacenet } from './mobilefacenet.ts'
import { opencvZoo } from './opencv-zoo.ts'
import { recommended } from './recommended.ts'
import { scrfd25g } from './scrfd-2.5g.ts'
import { packManifest, type PackManifest } from '../pack-manifest.ts'

/** The folder of the files that packs of the catalogue contain: cohorts. */
export const catalogueFolder = import.meta.dirname

/**
 * Public packs, each with its download addresses, the licence as its source states it, and the
 * constants of its networks. No network of them is part of the service. The first one is the recommended
 * start.
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
