/** A face to be drawn on a picture; pixels of the upright picture. */
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

/** What marks read of a face; every action tells faces in this shape. */
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

type FacesEnvelope = {
  readonly data?: {
    readonly results: readonly {
      readonly index: number
      readonly ok: boolean
      readonly value: ResponseValue
    }[]
  } | null
}

/** The faces that an answer names, by the number of the picture that shows them. */
export function faceAnnotationsOf(
  envelope: unknown,
): ReadonlyMap<number, readonly FaceAnnotation[]> {
  const marks = new Map<number, FaceAnnotation[]>()
  const put = (
    picture: number,
    face: ResponseFace | null | undefined,
    value: ResponseValue,
  ): void => {
    if (face) marks.set(picture, [...(marks.get(picture) ?? []), annotationOf(face, value)])
  }
  // The envelope is the service's own answer, checked against the schemas of the actions.
  for (const { index, value } of (envelope as FacesEnvelope).data?.results ?? []) {
    for (const face of value.faces ?? []) put(index, face, value)
    put(index, value.face, value)
    put(0, value.probe, value)
    put(1, value.reference, value)
  }
  return marks
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

/** Names may be long; a picture has room for this much. */
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
