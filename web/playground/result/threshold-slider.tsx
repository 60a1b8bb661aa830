import { Anchor, Group, Slider, Stack, Text } from '@mantine/core'

type Props = {
  readonly threshold: number
  /** The threshold of the call. */
  readonly original: number
  /** A consequence of the threshold, such as its false-match rate. */
  readonly note?: string | undefined
  readonly onChange: (threshold: number) => void
}

/** Decides the shown result again with another threshold, without a call. */
export function ThresholdSlider({ threshold, original, note, onChange }: Props) {
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          Threshold {threshold.toFixed(2)}
        </Text>
        {threshold === original ? (
          <Text size="xs" c="dimmed">
            as in the call
          </Text>
        ) : (
          <Anchor component="button" type="button" size="xs" onClick={() => onChange(original)}>
            Back to {original.toFixed(2)}
          </Anchor>
        )}
      </Group>
      <Slider
        thumbLabel="Threshold"
        min={0}
        max={1}
        step={0.01}
        label={null}
        value={threshold}
        onChange={onChange}
      />
      {note && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Stack>
  )
}
