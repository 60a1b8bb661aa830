import { Stack, Text } from '@mantine/core'
import { DefinitionList } from '../../components/definition-list.tsx'
import type { ResultProblem } from './envelope.ts'
import { VerdictLine } from './verdict-line.tsx'

type Props = {
  readonly title: string
  readonly problems: readonly ResultProblem[]
  /** Returns the general remedy of an error code. */
  readonly remedyOf: (code: string) => string | undefined
}

/** Why a call or one of its images failed, and what to change. */
export function FailureCard({ title, problems, remedyOf }: Props) {
  return (
    <Stack gap="sm">
      <VerdictLine tone="bad" text={title} />
      {problems.map(({ code, message, path, imageIndex, hint = remedyOf(code) }) => (
        <Stack gap={4} key={`${code} ${path ?? ''} ${message}`}>
          <Text size="sm">{message}</Text>
          <DefinitionList
            items={{
              Code: <span className="fg-mono">{code}</span>,
              ...(path !== undefined && { Location: <span className="fg-mono">{path}</span> }),
              ...(imageIndex !== undefined && { Image: imageIndex }),
              ...(hint !== undefined && { Remedy: hint }),
            }}
          />
        </Stack>
      ))}
    </Stack>
  )
}
