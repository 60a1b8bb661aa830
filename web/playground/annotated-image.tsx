import type { FaceAnnotation } from './face-annotations.ts'
import { ImageCanvas } from './image-canvas.tsx'
import type { PlaygroundImage } from './playground-image.ts'

type Props = { readonly image: PlaygroundImage; readonly annotations: readonly FaceAnnotation[] }

const toneColors = { plain: '#f2b34c', good: '#4ad991', bad: '#ff7a70' } as const

/** A picture with the faces found on it: boxes, landmarks, scores. */
export function AnnotatedImage({ image: picture, annotations: marks }: Props) {
  const { bitmap, name } = picture
  if (!bitmap) return <p>This browser cannot show {name}; the answer below has the figures.</p>
  return (
    <div className="fg-picture">
      <ImageCanvas bitmap={bitmap} sideMax={1600} />
      <svg
        viewBox={`0 0 ${bitmap.width} ${bitmap.height}`}
        // A drawing made of marks cannot be an img element.
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="img"
        aria-label={`${name}: ${marks.length} ${marks.length === 1 ? 'face' : 'faces'} marked`}
      >
        {marks.map((mark) => (
          <FaceOverlay
            key={`${mark.box.left} ${mark.box.top} ${mark.caption}`}
            mark={mark}
            unit={Math.max(bitmap.width, bitmap.height) / 400}
          />
        ))}
      </svg>
    </div>
  )
}

/** @param unit a four-hundredth of the longer side: marks look the same on every picture. */
function FaceOverlay({ mark, unit }: { readonly mark: FaceAnnotation; readonly unit: number }) {
  const { box, points, caption, tone } = mark
  const color = toneColors[tone]
  const textSize = unit * 8
  // Above the box, or inside it where the box touches the upper edge.
  const textY = box.top > textSize * 1.4 ? box.top - unit * 2 : box.top + textSize * 1.2
  return (
    <g data-mark={tone}>
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
