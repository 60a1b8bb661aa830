import meshRegions from './mesh-regions.json' with { type: 'json' }

/**
 * Parts of a face as outlines of mesh points (0..467); left and right as seen in the image. An eye has
 * its lids, and an opening is the visible part of the eye between them. The mouth has the skin around
 * the lips. The forehead ends below the hair of most people. The oval is the edge of the face.
 */
export { meshRegions }

export type MeshRegion = keyof typeof meshRegions
