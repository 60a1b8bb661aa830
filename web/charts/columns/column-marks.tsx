import { useState, type KeyboardEvent, type MouseEvent } from 'react'
import { stringifySearch } from '../../app/search-params.ts'
import type { ChartMark } from './chart-parts.ts'
import { useOpenLog } from '../use-open-log.ts'

type Props = {
  readonly marks: readonly ChartMark[]
  readonly columnCount: number
  readonly axisMax: number
  readonly onFocusColumn: (column: number) => void
}

/** The bars or columns of a chart, as links to their calls. */
export function ColumnMarks({ marks, columnCount, axisMax, onFocusColumn }: Props) {
  const openLog = useOpenLog()
  const [current, setCurrent] = useState('')
  const [tapped, setTapped] = useState<number>()
  const tabStop = marks.find((mark) => keyOf(mark) === current) ?? marks.at(-1)
  /** A first tap shows the values of a narrow column, and a second one opens its calls. */
  const open = (event: MouseEvent<HTMLElement>, { column, search }: ChartMark): void => {
    if (!search || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    const { pointerType } = event.nativeEvent as PointerEvent
    if (pointerType === 'touch' && tapped !== column) setTapped(column)
    else openLog(search)
  }
  return (
    <>
      {marks.map((mark) => {
        const style = boundsOf(mark, columnCount, axisMax)
        if (!mark.search) return <i key={keyOf(mark)} className="fg-chart-mark" style={style} />
        return (
          <a
            key={keyOf(mark)}
            className="fg-chart-mark"
            style={style}
            href={`/log${stringifySearch(mark.search)}`}
            aria-label={`${mark.label}. View calls`}
            data-mark={keyOf(mark)}
            tabIndex={mark === tabStop ? 0 : -1}
            onClick={(event) => open(event, mark)}
            onFocus={() => {
              setCurrent(keyOf(mark))
              onFocusColumn(mark.column)
            }}
            onKeyDown={(event) => moveFocus(event, marks, mark)}
          />
        )
      })}
    </>
  )
}

const keyOf = ({ column, series }: ChartMark): string => `${column}-${series}`

function boundsOf({ column, from, to, color }: ChartMark, columnCount: number, axisMax: number) {
  const isBar = to !== undefined
  const share = isBar ? 0.8 : 1
  return {
    left: `${((column + (1 - share) / 2) / columnCount) * 100}%`,
    width: `${(share / columnCount) * 100}%`,
    bottom: `${isBar ? ((from ?? 0) / axisMax) * 100 : 0}%`,
    height: `${isBar ? ((to - (from ?? 0)) / axisMax) * 100 : 100}%`,
    background: color,
  }
}

/** Left and right move to the nearest column with a mark, up and down move within a column. */
function moveFocus(
  event: KeyboardEvent<HTMLElement>,
  marks: readonly ChartMark[],
  mark: ChartMark,
): void {
  const next = nextMark(event.key, marks, mark)
  if (!next) return
  event.preventDefault()
  const plot = event.currentTarget.parentElement
  plot?.querySelector<HTMLElement>(`[data-mark="${keyOf(next)}"]`)?.focus()
}

function nextMark(
  key: string,
  marks: readonly ChartMark[],
  mark: ChartMark,
): ChartMark | undefined {
  const inColumn = marks.filter(({ column }) => column === mark.column)
  const index = inColumn.indexOf(mark)
  const columns = [...new Set(marks.map(({ column }) => column))].toSorted((a, b) => a - b)
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
  if (key === 'ArrowUp') return inColumn[index + 1]
  if (key === 'ArrowDown') return inColumn[index - 1]
  if (key === 'Home') return marks.find(({ column }) => column === columns[0])
  if (key === 'End') return marks.find(({ column }) => column === columns.at(-1))
  if (step === undefined) return undefined
  const column = columns[columns.indexOf(mark.column) + step]
  const candidates = marks.filter((other) => other.column === column)
  return candidates.find(({ series }) => series === mark.series) ?? candidates[0]
}
