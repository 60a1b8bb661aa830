import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { LoggedCallDetails } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { subjectNameOf } from '../format/subject-name.ts'

type Feedback = LoggedCallDetails['feedback']
type Match = Feedback['matches'][number]
type GivenVerdict = NonNullable<Match['verdict']>

const absenceTexts: Readonly<Record<NonNullable<Feedback['absence']>, string>> = {
  feedbackIsOff:
    'This match cannot be confirmed or denied, because feedback is off in its project.',
  windowEnded: 'This match can no longer be confirmed or denied, because the replay window ended.',
  notStored:
    'This match cannot be confirmed or denied: feedback was off at the time of the call, or the person was deleted or merged since, or has 1,000 newer matches.',
}

type Props = { readonly call: LoggedCallDetails }

/** The matches of a call of svc.identify, with the verdicts about them and buttons to give one. */
export function CallFeedback({ call }: Props) {
  const mayWrite = useHasRole('admin')
  const { matches, absence } = call.feedback
  if (absence !== null)
    return (
      <Text size="sm" c="dimmed">
        {absenceTexts[absence]}{' '}
        {absence === 'feedbackIsOff' && mayWrite && (
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(props) => (
              <Link {...props} to="/projects/$id" params={{ id: call.projectId }} />
            )}
          >
            Switch feedback on
          </Anchor>
        )}
      </Text>
    )
  if (matches.length === 0) return null
  return (
    <section aria-label="Feedback">
      <Text size="sm" fw={600} mb={4}>
        {matches.length === 1 ? 'Is this the right person?' : 'Are these the right people?'}
      </Text>
      <Stack gap="xs">
        {matches.map((match) => (
          <MatchFeedback
            key={`${match.resultIndex} ${match.faceIndex}`}
            {...{ call, match, mayWrite }}
            isOnlyMatch={matches.length === 1}
          />
        ))}
      </Stack>
    </section>
  )
}

type MatchProps = Props & {
  readonly match: Match
  readonly mayWrite: boolean
  readonly isOnlyMatch: boolean
}

const verdictLabels: Readonly<Record<GivenVerdict, string>> = {
  confirmed: 'Confirm',
  denied: 'Not this person',
}

function MatchFeedback({ call, match, mayWrite, isOnlyMatch }: MatchProps) {
  const { subjectId, resultIndex, faceIndex, verdict } = match
  const decide = useApiMutation({ method: 'POST', path: '/log/:callId/verdict' })
  const name = subjectNameOf(match)
  const place = `image ${resultIndex + 1}, face ${faceIndex + 1}`
  // A confirmed match has no template left to deny.
  const offered =
    verdict === 'confirmed' ? ['confirmed' as const] : (['confirmed', 'denied'] as const)
  return (
    <section aria-label={isOnlyMatch ? `Match with ${name}` : `Match with ${name}, ${place}`}>
      <Group gap="xs">
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/subjects"
              search={{ projectId: call.projectId, subject: subjectId }}
            />
          )}
        >
          {name}
        </Anchor>
        {!isOnlyMatch && (
          <Text size="sm" c="dimmed">
            {place}
          </Text>
        )}
        {mayWrite ? (
          offered.map((option) => (
            <Button
              key={option}
              size="xs"
              variant={option === verdict ? 'filled' : 'default'}
              aria-pressed={option === verdict}
              onClick={() => {
                if (option === verdict || decide.isPending) return
                const body = { subjectId, resultIndex, faceIndex, verdict: option }
                decide.mutate({ pathParams: { callId: String(call.callId) }, body })
              }}
            >
              {verdictLabels[option]}
            </Button>
          ))
        ) : (
          <VerdictTag verdict={verdict} />
        )}
      </Group>
      {verdict !== null && (
        <Text component="output" size="xs" c="dimmed" mt={4} display="block">
          {verdict === 'confirmed'
            ? 'Confirmed. The template of this face was deleted.'
            : 'Denied. This face no longer matches this person. Confirm ends the denial.'}
        </Text>
      )}
      <ErrorNotice title="Couldn't save verdict" error={decide.error} />
    </section>
  )
}

function VerdictTag({ verdict }: Pick<Match, 'verdict'>) {
  if (verdict === null) return <StatusTag tone="plain">no verdict</StatusTag>
  return <StatusTag tone={verdict === 'confirmed' ? 'ok' : 'bad'}>{verdict}</StatusTag>
}
