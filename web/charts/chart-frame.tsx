import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  /** The content of the chart as text, for screen readers. */
  readonly label: string
  readonly children: ReactNode
}

/** Returns the properties of a plot of Mantine, whose keyboard layer is a separate element. */
export function plotProps(label: string): object {
  return { 'aria-label': label }
}

/** The frame of a chart: a figure with a text alternative. */
export function ChartFrame({ label, children }: Props) {
  return (
    <Box component="figure" m={0} miw={0} aria-label={label}>
      {children}
    </Box>
  )
}
