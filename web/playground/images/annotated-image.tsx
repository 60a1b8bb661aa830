import { Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import type { FaceAnnotation } from './face-annotations.ts'
import { ImageCanvas } from './image-canvas.tsx'
import { placeLabels, type LabelBox, type PlacedLabel } from './place-labels.ts'
import type { RunPicture } from '../run.ts'

type Props = { readonly image: RunPicture; readonly annotations: readonly FaceAnnotation[] }

const toneColors = { plain: '#f2b34c', good: '#4ad991', bad: '#ff7a70' } as const

/** Sizes of a label in pixels of the screen, so that it is legible on every image. */
const labelMetrics = { characterWidth: 7.5, lineHeight: 18, padding: 4 }
const fontSize = 12

/** An image with the boxes, landmarks and labels of its faces. */
export function AnnotatedImage({ image, annotations }: Props) {
  const { ref, width } = useElementSize<HTMLDivElement>()
  const { bitmap, name } = image
  if (!bitmap)
    return <Text size="sm">This browser cannot display {name}. The response is below.</Text>
  const scale = width / image.width
  const screenFaces = annotations.map(({ caption, ...face }) => ({
    ...face,
    text: caption,
    box: scaleBox(face.box, scale),
  }))
  const size = { width, height: image.height * scale }
  const labels = width > 0 ? placeLabels(screenFaces, size, labelMetrics) : []
  const count = `${annotations.length} ${annotations.length === 1 ? 'face' : 'faces'}`
  return (
    <div className="fg-image" ref={ref}>
      <ImageCanvas bitmap={bitmap} sideMax={1600} />
      {width > 0 && (
        <svg
          viewBox={`0 0 ${size.width} ${size.height}`}
          // An inline SVG cannot be an img element.
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
          role="img"
          aria-label={[`${name}: ${count}`, ...annotations.map(({ caption }) => caption)].join(
            '; ',
          )}
        >
          {screenFaces.map((face, index) => (
            <FaceOverlay
              // Several faces can have equal boxes; their order never changes.
              // oxlint-disable-next-line react/no-array-index-key
              key={index}
              face={face}
              scale={scale}
              label={labels.find((label) => label.index === index)}
            />
          ))}
        </svg>
      )}
    </div>
  )
}

type FaceOverlayProps = {
  readonly face: Pick<FaceAnnotation, 'box' | 'points' | 'tone'>
  readonly label: PlacedLabel | undefined
  /** Pixels of the screen per pixel of the image. */
  readonly scale: number
}

function FaceOverlay({ face: { box, points, tone }, label, scale }: FaceOverlayProps) {
  const color = toneColors[tone]
  return (
    <g data-annotation={tone}>
      <rect
        x={box.left}
        y={box.top}
        width={box.width}
        height={box.height}
        fill="none"
        stroke={color}
        strokeWidth={2}
      />
      {points.map(({ x, y }) => (
        <circle key={`${x} ${y}`} cx={x * scale} cy={y * scale} r={2} fill={color} />
      ))}
      {label && <FaceLabel label={label} box={box} color={color} />}
    </g>
  )
}

type FaceLabelProps = {
  readonly label: PlacedLabel
  readonly box: LabelBox
  readonly color: string
}

function FaceLabel({ label: { box: place, text, isDetached }, box, color }: FaceLabelProps) {
  return (
    <>
      {isDetached && (
        <line
          x1={place.left + place.width / 2}
          y1={place.top + place.height / 2}
          x2={box.left + box.width / 2}
          y2={box.top}
          stroke={color}
          strokeDasharray="3 3"
        />
      )}
      <rect
        data-label
        x={place.left}
        y={place.top}
        width={place.width}
        height={place.height}
        rx={2}
        fill="#08120f"
        fillOpacity={0.88}
      />
      <text
        x={place.left + labelMetrics.padding}
        y={place.top + place.height / 2}
        dominantBaseline="central"
        fontSize={fontSize}
        fontFamily="var(--mantine-font-family-monospace)"
        fill={color}
        textLength={place.width - 2 * labelMetrics.padding}
        lengthAdjust="spacingAndGlyphs"
      >
        {text}
      </text>
    </>
  )
}

function scaleBox({ left, top, width, height }: LabelBox, scale: number): LabelBox {
  return { left: left * scale, top: top * scale, width: width * scale, height: height * scale }
}
