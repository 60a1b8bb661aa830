import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import type { MeasuredHealth, RunningHealthCheck } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount, formatPercentage } from '../../format/numbers.ts'
import type { GalleryCheck } from './use-gallery-check.ts'

/** The state of the check of a gallery, with the button that starts one. */
export function CheckStatus({ check }: { readonly check: GalleryCheck }) {
  const { report, measured, start, isStarting, startError } = check
  const mayWrite = useHasRole('admin')
  const state = report.check?.state
  return (
    <Stack className="fg-panel" gap="sm">
      {report.check?.state === 'running' && <CheckProgress check={report.check} />}
      {report.check?.state === 'refused' && (
        <Alert role="alert" variant="default" title="This gallery cannot be checked">
          {report.check.reason}
        </Alert>
      )}
      {state === 'failed' && (
        <Alert role="alert" variant="default" title="The check failed">
          The log of the server contains the cause.
        </Alert>
      )}
      {measured && <CheckSummary result={measured} />}
      {!measured && state === undefined && (
        <Text size="sm">
          There is no check of the last 15 minutes. A check compares every picture of the gallery
          with the other pictures of its person and with all other people. It changes nothing.
        </Text>
      )}
      {mayWrite && state !== 'running' && (
        <Group>
          <Button
            size="xs"
            variant={measured ? 'default' : 'filled'}
            loading={isStarting}
            onClick={start}
          >
            {measured ? 'Check again' : 'Check the gallery'}
          </Button>
        </Group>
      )}
      <ErrorNotice title="Couldn't start the check" error={startError} />
    </Stack>
  )
}

function CheckProgress({ check }: { readonly check: RunningHealthCheck }) {
  const { step, done, total } = check.progress
  return (
    <>
      <Text size="sm" component="output">
        {step === 'templates' ? 'Reading templates' : 'Comparing pictures'}: {formatCount(done)} of{' '}
        {formatCount(total)}
      </Text>
      <Progress value={total === 0 ? 0 : (100 * done) / total} aria-label="Progress of the check" />
    </>
  )
}

function CheckSummary({ result }: { readonly result: MeasuredHealth['result'] }) {
  const { subjects, templates, threshold, predictedMisses, unreadable, otherFaces } = result
  const leftOut = [
    unreadable > 0 && `${formatCount(unreadable)} templates that cannot be decrypted`,
    otherFaces > 0 && `${formatCount(otherFaces)} faces with templates of other models only`,
  ].filter((text) => text !== false)
  return (
    <Text size="sm" component="output" display="block">
      Checked <UtcTime timestampUtc={result.checkedAtUtc} /> UTC: {formatCount(subjects)}{' '}
      {subjects === 1 ? 'person' : 'people'}, {formatCount(templates)}{' '}
      {templates === 1 ? 'picture' : 'pictures'}, threshold {threshold.toFixed(2)}.{' '}
      {predictedMisses
        ? `About ${formatPercentage(predictedMisses.rate)} of new pictures of these people are expected to be missed, measured with ${formatCount(predictedMisses.probes)} pictures.`
        : 'The expected share of missed pictures needs ten pictures of people with several.'}
      {leftOut.length > 0 && ` Not checked: ${leftOut.join(', ')}.`}
    </Text>
  )
}
