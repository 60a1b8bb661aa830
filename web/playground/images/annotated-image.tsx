import type { FaceAnnotation } from './face-annotations.ts'
import { ImageCanvas } from './image-canvas.tsx'
import type { PlaygroundImage } from './playground-image.ts'

type Props = { readonly image: PlaygroundImage; readonly annotations: readonly FaceAnnotation[] }

const toneColors = { plain: '#f2b34c', good: '#4ad991', bad: '#ff7a70' } as const

/** An image with the boxes, landmarks and scores of the detected faces. */
export function AnnotatedImage({ image, annotations }: Props) {
  const { bitmap, name } = image
  if (!bitmap) return <p>This browser cannot display {name}. See the response below.</p>
  return (
    <div className="fg-image">
      <ImageCanvas bitmap={bitmap} sideMax={1600} />
      <svg
        viewBox={`0 0 ${bitmap.width} ${bitmap.height}`}
        // An inline SVG cannot be an img element.
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="img"
        aria-label={`${name}: ${annotations.length} ${annotations.length === 1 ? 'face' : 'faces'}`}
      >
        {annotations.map((annotation) => (
          <FaceOverlay
            key={`${annotation.box.left} ${annotation.box.top} ${annotation.caption}`}
            annotation={annotation}
            unit={Math.max(bitmap.width, bitmap.height) / 400}
          />
        ))}
      </svg>
    </div>
  )
}

type FaceOverlayProps = {
  readonly annotation: FaceAnnotation
  /** 1/400 of the longer side, so that overlays have the same size on every image. */
  readonly unit: number
}

function FaceOverlay({ annotation: { box, points, caption, tone }, unit }: FaceOverlayProps) {
  const color = toneColors[tone]
  const textSize = unit * 8
  // Above the box, or inside it if the box is too close to the top edge.
  const textY = box.top > textSize * 1.4 ? box.top - unit * 2 : box.top + textSize * 1.2
  return (
    <g data-annotation={tone}>
      <rect
        x={box.left}
        y={box.top}
        width={box.width}
        height={box.height}
        fill="none"
        stroke={color}
        strokeWidth={unit * 1.4}
      />
      {points.map(({ x, y }) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r={unit * 1.2} fill={color} />
      ))}
      <text
        x={box.left}
        y={textY}
        fontSize={textSize}
        fontFamily="var(--mantine-font-family-monospace)"
        fill={color}
        stroke="#08120f"
        strokeWidth={unit * 1.6}
        paintOrder="stroke"
      >
        {caption}
      </text>
    </g>
  )
}
