/** A face to be drawn on a picture; pixels of the upright picture. */
export type Mark = {
  readonly box: Box
  readonly points: readonly Point[]
  readonly caption: string
  readonly tone: 'plain' | 'good' | 'bad'
}

type Box = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}
type Point = { readonly x: number; readonly y: number }

/** What marks read of a face; every action tells faces in this shape. */
type Face = {
  readonly boundingBox: Box
  readonly confidence?: number
  readonly landmarks?: Readonly<Record<string, Point>>
  readonly quality?: { readonly score: number }
  readonly candidates?: readonly Candidate[]
}

type Candidate = {
  readonly subjectId: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly similarity: number
}

type Value = {
  readonly faces?: readonly Face[]
  readonly face?: Face | null
  readonly probe?: Face | null
  readonly reference?: Face | null
  readonly matched?: boolean
  readonly decision?: string
}

type Envelope = {
  readonly data?: {
    readonly results: readonly {
      readonly index: number
      readonly ok: boolean
      readonly value: Value
    }[]
  } | null
}

/** The faces that an answer names, by the number of the picture that shows them. */
export function marksOf(envelope: unknown): ReadonlyMap<number, readonly Mark[]> {
  const marks = new Map<number, Mark[]>()
  const put = (picture: number, face: Face | null | undefined, value: Value): void => {
    if (face) marks.set(picture, [...(marks.get(picture) ?? []), markOf(face, value)])
  }
  // The envelope is the service's own answer, checked against the schemas of the actions.
  for (const { index, value } of (envelope as Envelope).data?.results ?? []) {
    for (const face of value.faces ?? []) put(index, face, value)
    put(index, value.face, value)
    put(0, value.probe, value)
    put(1, value.reference, value)
  }
  return marks
}

function markOf(face: Face, value: Value): Mark {
  const [best] = face.candidates ?? []
  const caption = [
    best && short(best.displayName ?? best.externalId ?? best.subjectId),
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
function short(name: string): string {
  return name.length > 24 ? `${name.slice(0, 23)}…` : name
}

function toneOf(best: Candidate | undefined, { matched, decision }: Value): Mark['tone'] {
  if (best || matched === true || decision === 'live') return 'good'
  return matched === false || decision === 'spoof' ? 'bad' : 'plain'
}
