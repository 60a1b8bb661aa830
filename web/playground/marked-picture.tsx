import type { Mark } from './marks.ts'
import { PictureCanvas } from './picture-canvas.tsx'
import type { Picture } from './picture.ts'

type Parts = { readonly picture: Picture; readonly marks: readonly Mark[] }

const colors = { plain: '#f2b34c', good: '#4ad991', bad: '#ff7a70' } as const

/** A picture with the faces found on it: boxes, landmarks, scores. */
export function MarkedPicture({ picture, marks }: Parts) {
  const { bitmap, name } = picture
  if (!bitmap) return <p>This browser cannot show {name}; the answer below has the figures.</p>
  return (
    <div className="fg-picture">
      <PictureCanvas bitmap={bitmap} sideMax={1600} />
      <svg
        viewBox={`0 0 ${bitmap.width} ${bitmap.height}`}
        // A drawing made of marks cannot be an img element.
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="img"
        aria-label={`${name}: ${marks.length} ${marks.length === 1 ? 'face' : 'faces'} marked`}
      >
        {marks.map((mark) => (
          <FaceMark
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
function FaceMark({ mark, unit }: { readonly mark: Mark; readonly unit: number }) {
  const { box, points, caption, tone } = mark
  const color = colors[tone]
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
