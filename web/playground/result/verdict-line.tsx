import { Group, Text } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react'

export type VerdictTone = 'good' | 'bad' | 'unsure' | 'info'

type Props = { readonly tone: VerdictTone; readonly text: string }

const icons = {
  good: { Icon: IconCircleCheck, color: 'var(--fg-ok)' },
  bad: { Icon: IconCircleX, color: 'var(--fg-bad)' },
  unsure: { Icon: IconAlertCircle, color: 'var(--fg-warn)' },
  info: { Icon: IconInfoCircle, color: 'var(--mantine-color-anchor)' },
} as const

/** The main statement of a result. */
export function VerdictLine({ tone, text }: Props) {
  const { Icon, color } = icons[tone]
  return (
    <Group gap="xs" wrap="nowrap" align="center">
      <Icon size={26} color={color} aria-hidden style={{ flex: 'none' }} />
      <Text size="lg" fw={650} style={{ overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    </Group>
  )
}
