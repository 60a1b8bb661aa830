import { Box, Group, Progress, Text } from '@mantine/core'

type Props = {
  readonly label: string
  /** From 0 to `max`. */
  readonly value: number
  readonly max?: number
  readonly tone?: 'good' | 'bad' | 'plain'
  /** The value as text. */
  readonly text: string
  /** A mark on the bar, such as the threshold. */
  readonly mark?: number
}

const colors = { good: 'var(--fg-ok)', bad: 'var(--fg-bad)', plain: 'var(--fg-warn)' } as const

/** A score as a bar, with its value as text and an optional mark. */
export function ScoreBar({ label, value, max = 1, tone = 'plain', text, mark }: Props) {
  const percent = Math.max(0, Math.min(100, (value / max) * 100))
  return (
    <Box>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" lineClamp={2}>
          {label}
        </Text>
        <Text size="sm" ff="monospace" style={{ whiteSpace: 'nowrap' }}>
          {text}
        </Text>
      </Group>
      <Box pos="relative">
        <Progress.Root size="md">
          <Progress.Section value={percent} color={colors[tone]} aria-label={`${label}: ${text}`} />
        </Progress.Root>
        {mark !== undefined && (
          <Box
            aria-hidden
            pos="absolute"
            top={-3}
            bottom={-3}
            w={2}
            bg="var(--mantine-color-text)"
            style={{ left: `calc(${(mark / max) * 100}% - 1px)` }}
          />
        )}
      </Box>
    </Box>
  )
}
