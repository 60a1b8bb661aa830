import type { LivenessResultValue } from '../result/action-values.ts'
import type { ResponseFace, ResponseValue, ResultEnvelope } from '../result/envelope.ts'
import { judgeLiveness } from '../result/judge.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import type { LabelBox } from './place-labels.ts'

/** A face to draw on an image, in pixels of the upright image. */
export type FaceAnnotation = {
  readonly box: LabelBox
  readonly points: readonly PixelPoint[]
  readonly caption: string
  readonly tone: 'plain' | 'good' | 'bad'
}

type PixelPoint = { readonly x: number; readonly y: number }

/**
 * Returns the faces of a response by image index.
 *
 * @param threshold decides the results again; by default the threshold of the call.
 */
export function faceAnnotationsOf(
  envelope: ResultEnvelope,
  threshold?: number,
): ReadonlyMap<number, readonly FaceAnnotation[]> {
  const annotations = new Map<number, FaceAnnotation[]>()
  const add = (
    index: number,
    face: ResponseFace | null | undefined,
    value: ResponseValue,
  ): void => {
    if (face)
      annotations.set(index, [
        ...(annotations.get(index) ?? []),
        annotationOf(face, value, threshold),
      ])
  }
  for (const { index, value } of envelope.data?.results ?? []) {
    for (const face of value.faces ?? []) add(index, face, value)
    // With several pictures of one person, `face` belongs to the first that was enrolled.
    if (value.images) for (const picture of value.images) add(picture.index, picture.face, value)
    else add(index, value.face, value)
    if (value.probe && 'boundingBox' in value.probe) add(0, value.probe, value)
    add(1, value.reference, value)
  }
  return annotations
}

function annotationOf(
  face: ResponseFace,
  value: ResponseValue,
  threshold: number | undefined,
): FaceAnnotation {
  const best = face.candidates?.find(({ similarity }) => similarity >= (threshold ?? 0))
  const verdict = verdictOf(value, threshold)
  const caption = [
    face.faceIndex !== undefined && value.faces && `#${face.faceIndex}`,
    best && truncateName(subjectNameOf(best)),
    best && best.similarity.toFixed(3),
    verdict.text,
    !verdict.text && !best && face.confidence !== undefined && face.confidence.toFixed(3),
    !verdict.text && !best && face.quality && `quality ${face.quality.score}`,
  ]
  return {
    box: face.boundingBox,
    points: Object.values(face.landmarks ?? {}),
    caption: caption.filter(Boolean).join(' · '),
    tone: best ? 'good' : verdict.tone,
  }
}

/** Shortens a long name to fit on the image. */
function truncateName(name: string): string {
  return name.length > 24 ? `${name.slice(0, 23)}…` : name
}

type FaceVerdict = { readonly text?: string; readonly tone: FaceAnnotation['tone'] }

function verdictOf(value: ResponseValue, threshold: number | undefined): FaceVerdict {
  if (value.decision !== undefined) {
    // A result with a decision has the other fields of a liveness judgement.
    const verdict = judgeLiveness(value as LivenessResultValue, threshold)
    const text = verdict === 'notLive' ? 'not live' : verdict
    return {
      text,
      tone: ({ live: 'good', uncertain: 'plain' } as const)[verdict as 'live'] ?? 'bad',
    }
  }
  const { similarity } = value
  if (similarity === undefined) return { tone: 'plain' }
  const isMatch = similarity >= (threshold ?? value.threshold ?? 1)
  return {
    text: `${isMatch ? 'match' : 'no match'} ${similarity.toFixed(3)}`,
    tone: isMatch ? 'good' : 'bad',
  }
}
