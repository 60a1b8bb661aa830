import type { ChartColumn } from './chart-parts.ts'

export type LegendEntry = {
  readonly name: string
  readonly color: string
  readonly isLine?: boolean
}

/** The names of the series. Long names wrap. */
export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }) {
  if (entries.length === 0) return null
  return (
    <ul className="fg-chart-legend">
      {entries.map(({ name, color, isLine }, index) => (
        // Two keys or projects can have one name; their order is that of the series.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>
          <b style={{ background: color }} data-line={isLine ? '' : undefined} />
          <span>{name}</span>
        </li>
      ))}
    </ul>
  )
}

type TooltipProps = {
  readonly column: ChartColumn
  /** The centre of the column, 0 to 1. */
  readonly position: number
  readonly hasLinks: boolean
}

/** The values of a column. It is on the side of the column that has more space. */
export function ChartTooltip({ column, position, hasLinks }: TooltipProps) {
  const side =
    position < 0.5 ? { left: `${position * 100}%` } : { right: `${(1 - position) * 100}%` }
  return (
    <div className="fg-chart-tooltip" style={side} aria-hidden>
      <strong>{column.label}</strong>
      {column.values.map(({ name, text, color }, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index}>
          {color !== undefined && <b style={{ background: color }} />}
          <span>{name}</span>
          <span className="fg-mono">{text}</span>
        </div>
      ))}
      {hasLinks && <small>Select a value to open its calls</small>}
    </div>
  )
}
