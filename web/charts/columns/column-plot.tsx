import { VisuallyHidden } from '@mantine/core'
import { useResizeObserver } from '@mantine/hooks'
import { useState, type MouseEvent, type ReactNode } from 'react'
import { axisLabels, axisTicks } from './axis.ts'
import { ChartFrame } from '../chart-frame.tsx'
import type { ChartColumn, ChartMark } from './chart-parts.ts'
import { ChartTooltip, Legend, type LegendEntry } from './chart-texts.tsx'
import { ColumnMarks } from './column-marks.tsx'
import './charts.css'

type Props = {
  readonly label: string
  readonly columns: readonly ChartColumn[]
  readonly marks: readonly ChartMark[]
  readonly legend: readonly LegendEntry[]
  readonly valueMax: number
  readonly format: (value: number) => string
  /** Whether the values are whole numbers. */
  readonly isWhole?: boolean
  /** Lines over the columns. `axisMax` is the value at the top of the axis. */
  readonly renderLines?: (axisMax: number) => ReactNode
}

/**
 * A chart of columns with axes, a legend and a tooltip. The texts wrap, and the axes show as many labels
 * as fit, so that no text is cut. One mark is in the tab order; the arrow keys move to the others.
 */
export function ColumnPlot(props: Props) {
  const { label, columns, marks, legend, format, renderLines } = props
  const [plotRef, { width }] = useResizeObserver<HTMLDivElement>()
  const [shownColumn, setShownColumn] = useState<number>()
  const ticks = axisTicks(props.valueMax, props.isWhole === true)
  const axisMax = ticks.at(-1) ?? 1
  const hasLinks = marks.some(({ search }) => search !== undefined)
  const shown = shownColumn === undefined ? undefined : columns[shownColumn]
  return (
    <ChartFrame label={label}>
      <Legend entries={legend} />
      <div className="fg-chart">
        <div className="fg-chart-values" aria-hidden>
          {ticks.toReversed().map((tick) => (
            <span key={tick}>{format(tick)}</span>
          ))}
        </div>
        <div
          ref={plotRef}
          className="fg-chart-plot"
          onMouseMove={(event) => setShownColumn(columnAt(event, columns.length))}
          onMouseLeave={() => setShownColumn(undefined)}
          onBlur={() => setShownColumn(undefined)}
        >
          {ticks.map((tick) => (
            <i key={tick} style={{ bottom: `${(tick / axisMax) * 100}%` }} />
          ))}
          {renderLines?.(axisMax)}
          <ColumnMarks
            marks={marks}
            columnCount={columns.length}
            axisMax={axisMax}
            onFocusColumn={setShownColumn}
          />
          {shown && (
            <ChartTooltip
              column={shown}
              position={(Number(shownColumn) + 0.5) / columns.length}
              hasLinks={hasLinks}
            />
          )}
        </div>
        <div className="fg-chart-labels" aria-hidden>
          {axisLabels(
            columns.map(({ label: text }) => text),
            width,
          ).map(({ index, text, leftPx, widthPx }) => (
            <span key={index} style={{ left: leftPx, width: widthPx }}>
              {text}
            </span>
          ))}
        </div>
      </div>
      {hasLinks && (
        <VisuallyHidden component="figcaption">
          The arrow keys move between the values. Enter opens their calls.
        </VisuallyHidden>
      )}
    </ChartFrame>
  )
}

function columnAt({ clientX, currentTarget }: MouseEvent<HTMLElement>, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect()
  return Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)))
}
