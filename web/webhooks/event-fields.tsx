import { Checkbox, NumberInput, Stack, TagsInput } from '@mantine/core'
import type { ConsoleWebhook, WebhookEventInfo } from '../api/responses.ts'

/** The events of a webhook and the filter of its matches, as the fields of a form contain them. */
export type EventValues = {
  readonly events: string[]
  readonly groups: string[]
  readonly outcomes: string[]
  /** Empty: any. */
  readonly minSimilarity: number | string
}

const matchEvent = 'identify.matched'

const outcomeLabels = [
  { value: 'match', label: 'Match' },
  { value: 'ambiguous', label: 'Ambiguous match' },
] as const

type Props = {
  /** A form that contains these values, among others. */
  readonly form: {
    readonly values: EventValues
    readonly getInputProps: (name: keyof EventValues) => object
  }
  readonly eventTypes: readonly WebhookEventInfo[]
}

/** The events that a webhook receives. The filter of matches is shown with the event it applies to. */
export function EventFields({ form, eventTypes }: Props) {
  return (
    <>
      <Checkbox.Group label="Events" required {...form.getInputProps('events')}>
        <Stack gap={6} mt={6}>
          {eventTypes.map(({ type, summary }) => (
            <Checkbox key={type} value={type} label={type} description={summary} />
          ))}
        </Stack>
      </Checkbox.Group>
      {form.values.events.includes(matchEvent) && (
        <Stack gap="sm" pl="lg">
          <TagsInput
            size="sm"
            label="Only subjects of these groups"
            placeholder="Any group"
            clearable
            clearButtonProps={{ 'aria-label': 'Any group' }}
            {...form.getInputProps('groups')}
          />
          <NumberInput
            size="sm"
            label="Minimum similarity"
            placeholder="Any"
            min={0}
            max={1}
            step={0.01}
            decimalScale={4}
            {...form.getInputProps('minSimilarity')}
          />
          <Checkbox.Group label="Outcomes" {...form.getInputProps('outcomes')}>
            <Stack gap={6} mt={6}>
              {outcomeLabels.map((outcome) => (
                <Checkbox key={outcome.value} {...outcome} />
              ))}
            </Stack>
          </Checkbox.Group>
        </Stack>
      )}
    </>
  )
}

/** The values of the fields for a webhook, or for a new one with these events. */
export function eventValuesOf({
  events,
  matchFilter: { groups = [], outcomes = [], minSimilarity },
}: Pick<ConsoleWebhook, 'events' | 'matchFilter'>): EventValues {
  return {
    events: [...events],
    groups: [...groups],
    // Without a condition a webhook receives all outcomes.
    outcomes: outcomes.length > 0 ? [...outcomes] : outcomeLabels.map(({ value }) => value),
    minSimilarity: minSimilarity ?? '',
  }
}

/** The rules of the fields. */
export const eventRules = {
  events: (selected: readonly string[]) =>
    selected.length === 0 ? 'Select at least one event' : null,
  outcomes: (selected: readonly string[], { events }: EventValues) =>
    events.includes(matchEvent) && selected.length === 0 ? 'Select at least one outcome' : null,
}

/** The body of a request for these values. */
export function toReceivedEvents({ events, groups, outcomes, minSimilarity }: EventValues) {
  if (!events.includes(matchEvent)) return { events, matchFilter: {} }
  const matchFilter = {
    ...(groups.length > 0 && { groups }),
    ...(outcomes.length < outcomeLabels.length && { outcomes }),
    ...(typeof minSimilarity === 'number' && { minSimilarity }),
  }
  return { events, matchFilter }
}
