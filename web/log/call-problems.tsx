import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { LoggedCallDetails } from '../api/responses.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { ProblemFacts } from '../components/problem-facts.tsx'

type Props = { readonly call: LoggedCallDetails }

/** Why a call, or one of its images, failed, and what to change. */
export function CallProblems({ call }: Props) {
  const { problems, isGeneral, ok } = call
  if (problems.length === 0) return null
  return (
    <Alert
      variant="default"
      icon={<IconAlertTriangle size={18} color="var(--fg-bad)" aria-hidden />}
      title={ok ? 'Some images failed' : 'Why this call failed'}
    >
      <Stack gap="sm" align="flex-start">
        {problems.map((problem) => (
          <ProblemFacts
            key={`${problem.code} ${problem.path ?? ''} ${problem.message}`}
            problem={problem}
          />
        ))}
        {isGeneral ? (
          <Text size="xs" c="dimmed">
            No message is stored for this call. This is the general explanation of its code.
          </Text>
        ) : (
          <CopyButton label="reasons" text={JSON.stringify(problems, undefined, 2)} />
        )}
      </Stack>
    </Alert>
  )
}

/** The options of a failed call. Texts of the caller are not stored, only that they were sent. */
export function CallParameters({ call: { parameters } }: Props) {
  const entries = Object.entries(parameters ?? {})
  if (entries.length === 0) return null
  return (
    <section aria-label="Options of the call">
      <Text size="sm" fw={600} mb={4}>
        Options of the call
      </Text>
      <DefinitionList
        items={Object.fromEntries(
          entries.map(([name, value]) => [
            name,
            <span className="fg-mono" key={name}>
              {Array.isArray(value) ? value.join(', ') : String(value)}
            </span>,
          ]),
        )}
      />
    </section>
  )
}
