import type { LogSearch } from '../log-search.ts'

/** One position on the horizontal axis with its values. */
export type ChartColumn = {
  readonly label: string
  readonly values: readonly ChartValue[]
}

/** A value in the tooltip. */
export type ChartValue = {
  readonly name: string
  readonly text: string
  readonly color?: string
}

/** A part of a column that can be clicked: a bar, or the whole column of a line chart. */
export type ChartMark = {
  readonly column: number
  readonly series: number
  /** The bounds on the vertical axis. Without them the mark has the full height. */
  readonly from?: number
  readonly to?: number
  /** Without a colour the mark is transparent. */
  readonly color?: string
  /** The mark as text, for screen readers. */
  readonly label: string
  /** The calls that the mark stands for. */
  readonly search?: LogSearch | undefined
}
