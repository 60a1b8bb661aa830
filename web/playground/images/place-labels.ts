export type LabelBox = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

type LabelledFace = { readonly box: LabelBox; readonly text: string }

/** Sizes in pixels of the screen. The font is monospaced. */
export type LabelMetrics = {
  readonly characterWidth: number
  readonly lineHeight: number
  readonly padding: number
}

export type PlacedLabel = {
  /** The index of the face. */
  readonly index: number
  /** The text, shortened if there is no place for all of it. */
  readonly text: string
  readonly box: LabelBox
  /** Whether the label is not next to its face, so that a line must connect both. */
  readonly isDetached: boolean
}

type ScreenSize = { readonly width: number; readonly height: number }

const gap = 2
/** The fewest characters of a label. */
const charactersMin = 3

/**
 * Places one label per face on an image. Every label is completely inside the image and overlaps no
 * other label. A label without a place is shortened to the number of its face; without a place for
 * that, it is omitted.
 */
export function placeLabels(
  faces: readonly LabelledFace[],
  image: ScreenSize,
  metrics: LabelMetrics,
): PlacedLabel[] {
  const placed: PlacedLabel[] = []
  for (const [index, face] of faces.entries()) {
    const others = faces.filter((other) => other !== face).map(({ box }) => box)
    const taken = placed.map(({ box }) => box)
    for (const text of textVariants(face.text, index, image, metrics)) {
      const size = labelSize(text, metrics)
      const found = findPlace(face.box, size, { image, taken, others })
      if (found === undefined) continue
      placed.push({ index, text, ...found })
      break
    }
  }
  return placed
}

/** Returns the width of a text in characters. Characters of East Asian scripts and emoji are wide. */
export function textColumns(text: string): number {
  return Array.from(text).reduce(
    (sum, char) => sum + ((char.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1),
    0,
  )
}

function textVariants(
  text: string,
  index: number,
  { width }: ScreenSize,
  { characterWidth, padding }: LabelMetrics,
): string[] {
  const columnsMax = Math.floor((width - 2 * padding) / characterWidth)
  const full = shorten(text, Math.max(columnsMax, charactersMin))
  return [full, shorten(text, 12), `#${index}`].filter(
    (variant, at, all) => textColumns(variant) <= columnsMax && all.indexOf(variant) === at,
  )
}

function shorten(text: string, columnsMax: number): string {
  if (textColumns(text) <= columnsMax) return text
  let kept = ''
  for (const char of text) {
    if (textColumns(kept + char) + 1 > columnsMax) break
    kept += char
  }
  return `${kept.trimEnd()}…`
}

function labelSize(
  text: string,
  { characterWidth, lineHeight, padding }: LabelMetrics,
): ScreenSize {
  return { width: textColumns(text) * characterWidth + 2 * padding, height: lineHeight }
}

type Surroundings = {
  readonly image: ScreenSize
  readonly taken: readonly LabelBox[]
  readonly others: readonly LabelBox[]
}

/** Returns the best free place next to the face, or else the nearest free place in the image. */
function findPlace(
  face: LabelBox,
  size: ScreenSize,
  surroundings: Surroundings,
): Pick<PlacedLabel, 'box' | 'isDetached'> | undefined {
  const { image, others } = surroundings
  const beside = placesBeside(face, size)
    .map((place) => moveInside(place, image))
    .filter((place) => isFree(place, surroundings))
    .map((box) => ({ box, cost: others.reduce((sum, other) => sum + overlapArea(box, other), 0) }))
    .toSorted((a, b) => a.cost - b.cost)[0]
  if (beside) return { box: beside.box, isDetached: false }
  const anywhere = gridPlaces(size, image)
    .filter((place) => isFree(place, surroundings))
    .map((box) => ({ box, cost: distance(box, face) }))
    .toSorted((a, b) => a.cost - b.cost)[0]
  return anywhere && { box: anywhere.box, isDetached: true }
}

/** Places next to a face, the preferred ones first. */
function placesBeside(face: LabelBox, { width, height }: ScreenSize): LabelBox[] {
  const right = face.left + face.width
  const bottom = face.top + face.height
  const at = (left: number, top: number): LabelBox => ({ left, top, width, height })
  return [
    at(face.left, face.top - height - gap),
    at(face.left, bottom + gap),
    at(right + gap, face.top),
    at(face.left - width - gap, face.top),
    at(face.left, face.top),
    at(face.left, bottom - height),
  ]
}

function gridPlaces({ width, height }: ScreenSize, image: ScreenSize): LabelBox[] {
  const columns = Math.floor(image.width / (width + gap))
  const rows = Math.floor(image.height / (height + gap))
  return Array.from({ length: rows * columns }, (_, index) => ({
    left: (index % columns) * (width + gap),
    top: Math.floor(index / columns) * (height + gap),
    width,
    height,
  }))
}

function moveInside(box: LabelBox, image: ScreenSize): LabelBox {
  return {
    ...box,
    left: Math.max(0, Math.min(box.left, image.width - box.width)),
    top: Math.max(0, Math.min(box.top, image.height - box.height)),
  }
}

function isFree(box: LabelBox, { image, taken }: Surroundings): boolean {
  const fits = box.width <= image.width && box.height <= image.height
  return fits && taken.every((other) => overlapArea(box, other) === 0)
}

function overlapArea(a: LabelBox, b: LabelBox): number {
  const width = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)
  const height = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top)
  return Math.max(0, width) * Math.max(0, height)
}

function distance(a: LabelBox, b: LabelBox): number {
  const x = a.left + a.width / 2 - (b.left + b.width / 2)
  const y = a.top + a.height / 2 - (b.top + b.height / 2)
  return Math.hypot(x, y)
}
