import { Text } from '@mantine/core'

type Props = { readonly shown: number; readonly of: number }

/** The part of the groups that a chart shows, if it does not show all. The table below has all. */
export function ShownSeries({ shown, of }: Props) {
  if (of <= shown) return null
  return (
    <Text size="xs" c="dimmed">
      The chart shows the largest {shown} of {of}.
    </Text>
  )
}
