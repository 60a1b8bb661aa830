import { mergeTemplates, spreadShares } from '../../../lib/density/merge-templates.ts'
import { ActionError, invalidRequest } from '../../../lib/errors.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ExtractedProbes, ProbeFace } from '../extract-probes.ts'
import { extractPictures, requireUsable, type ExtractedPicture } from './extract-pictures.ts'
import { largestGroup, similarityByPosition } from './add-pictures.ts'

/**
 * The lowest similarity of a frame to any other frame. It is not a threshold of a match, which the
 * merged probe has to reach: a wrong frame lowers the similarity of the probe. At 0.80 the check would
 * refuse as many genuine sets as single pictures are missed (docs/accuracy.md).
 */
const frameSimilarityMin = 0.7

type ExtractFramesCall = Parameters<typeof extractPictures>[0]

/**
 * Extracts several frames of one person and merges their templates into one probe. Everything else in
 * the result is that of the first frame.
 *
 * @throws ActionError with `imageIndex`: SUBJECT_FACE_MISMATCH for the first frame of another person,
 *   and the errors of `extractProbes` for every frame that cannot be used.
 */
export async function extractMergedProbe(
  call: ExtractFramesCall,
  images: readonly EncodedImage[],
): Promise<ExtractedProbes> {
  const frames = requireUsable(await extractPictures(call, images))
  requireSamePerson(call, frames)
  const [first] = frames
  if (!first) throw new RangeError('there are no frames')
  const probes = first.probe.probes.map(({ modelId }) =>
    mergeTemplates(
      frames.map(({ probe }) => templateOf(probe, modelId)),
      spreadShares.probe,
    ),
  )
  // `template` stays that of the first frame: a template that is stored belongs to one picture.
  return { analysis: first.analysis, faces: [{ ...first.probe, probes }] }
}

/** @throws ActionError SUBJECT_FACE_MISMATCH. */
function requireSamePerson(
  { services: { matching } }: ExtractFramesCall,
  frames: readonly ExtractedPicture[],
): void {
  const templates = frames.map(({ probe }) => probe.template)
  const similarityOf = similarityByPosition(matching, templates)
  const group = largestGroup(templates.length, similarityOf, frameSimilarityMin)
  const other = frames.find(({ index }) => !group.includes(index))
  if (other)
    throw new ActionError(
      'SUBJECT_FACE_MISMATCH',
      `the face has a similarity below ${frameSimilarityMin} to the faces of the other images`,
      {
        imageIndex: other.index,
        hint: 'Send images of one person, or omit sameSubject and send each person in a separate call.',
      },
    )
}

function templateOf({ probes }: ProbeFace, modelId: string): Template {
  const template = probes.find((probe) => probe.modelId === modelId)
  if (!template) throw new Error(`a frame has no template of ${modelId}`)
  return template
}

/** The number of images that `sameSubject` accepts; the upper limit is that of every call. */
const framesMin = 2

/** @throws ActionError INVALID_REQUEST if the other parameters contradict `sameSubject`. */
export function requireFrames(params: {
  readonly images: readonly unknown[]
  readonly maxFaces?: number
}): void {
  if (params.images.length < framesMin)
    throw invalidRequest(
      `params.images: sameSubject needs at least ${framesMin} images of one person`,
    )
  if (params.maxFaces !== undefined && params.maxFaces > 1)
    throw invalidRequest(
      'params.maxFaces: must be 1 with sameSubject, which uses the main face of each image',
    )
}

export const sameSubjectDescription =
  'The images are 2 to 10 frames of one person: they are compared with one another and merged into one probe with one result, which matches the person more reliably than one image. The result describes the face of the first image. An image of another person fails the call with SUBJECT_FACE_MISMATCH and its `imageIndex`, and so does an image that cannot be used. Each image is charged.'
