import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  /** What the chart shows, in a sentence for those who do not see it. */
  readonly label: string
  readonly children: ReactNode
}

/** Around every chart: a figure with its sentence. */
export function ChartFrame({ label, children }: Props) {
  return (
    <Box component="figure" m={0} miw={0} aria-label={label}>
      {children}
    </Box>
  )
}
