/** A face to draw on an image, in pixels of the upright image. */
export type FaceAnnotation = {
  readonly box: PixelBox
  readonly points: readonly PixelPoint[]
  readonly caption: string
  readonly tone: 'plain' | 'good' | 'bad'
}

type PixelBox = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}
type PixelPoint = { readonly x: number; readonly y: number }

/** The fields of a face that are drawn. Faces have this shape in the response of every action. */
type ResponseFace = {
  readonly boundingBox: PixelBox
  readonly confidence?: number
  readonly landmarks?: Readonly<Record<string, PixelPoint>>
  readonly quality?: { readonly score: number }
  readonly candidates?: readonly ResponseCandidate[]
}

type ResponseCandidate = {
  readonly subjectId: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly similarity: number
}

type ResponseValue = {
  readonly faces?: readonly ResponseFace[]
  readonly face?: ResponseFace | null
  readonly probe?: ResponseFace | null
  readonly reference?: ResponseFace | null
  readonly matched?: boolean
  readonly decision?: string
}

/** The fields of a response envelope that the playground shows. */
export type ResultEnvelope = {
  readonly ok: boolean
  readonly errors?: readonly { readonly code: string; readonly message: string }[]
  readonly data?: {
    readonly results: readonly {
      readonly index: number
      readonly ok: boolean
      readonly value: ResponseValue
    }[]
  } | null
}

/** Returns the faces of a response by image index. */
export function faceAnnotationsOf(
  envelope: ResultEnvelope,
): ReadonlyMap<number, readonly FaceAnnotation[]> {
  const annotations = new Map<number, FaceAnnotation[]>()
  const add = (
    index: number,
    face: ResponseFace | null | undefined,
    value: ResponseValue,
  ): void => {
    if (face) annotations.set(index, [...(annotations.get(index) ?? []), annotationOf(face, value)])
  }
  for (const { index, value } of envelope.data?.results ?? []) {
    for (const face of value.faces ?? []) add(index, face, value)
    add(index, value.face, value)
    add(0, value.probe, value)
    add(1, value.reference, value)
  }
  return annotations
}

function annotationOf(face: ResponseFace, value: ResponseValue): FaceAnnotation {
  const [best] = face.candidates ?? []
  const caption = [
    best && truncateName(best.displayName ?? best.externalId ?? best.subjectId),
    best && best.similarity.toFixed(3),
    value.decision,
    face.confidence !== undefined && face.confidence.toFixed(3),
    face.quality && `quality ${face.quality.score}`,
  ]
  return {
    box: face.boundingBox,
    points: Object.values(face.landmarks ?? {}),
    caption: caption.filter(Boolean).join(' · '),
    tone: toneOf(best, value),
  }
}

/** Shortens a long name to fit on the image. */
function truncateName(name: string): string {
  return name.length > 24 ? `${name.slice(0, 23)}…` : name
}

function toneOf(
  best: ResponseCandidate | undefined,
  { matched, decision }: ResponseValue,
): FaceAnnotation['tone'] {
  if (best || matched === true || decision === 'live') return 'good'
  return matched === false || decision === 'spoof' ? 'bad' : 'plain'
}
