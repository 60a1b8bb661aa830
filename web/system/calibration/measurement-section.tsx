import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import type { ConsoleResponses, RunningMeasurement } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { formatCount } from '../../format/numbers.ts'
import { MeasurementResult } from './measurement-result.tsx'

type Props = {
  readonly project: { readonly projectId: string; readonly name: string }
  readonly onApplied: () => void
}

const path = '/projects/:projectId/calibration/measurement'

/** The running calculation is polled while the dialog is open. */
const pollIntervalMs = 1_000

/** The calculation of a gallery's false-match rates: start, progress, result. */
export function MeasurementSection({ project, onApplied }: Props) {
  const pathParams = { projectId: project.projectId }
  const query = useApiQuery(path, {
    pathParams,
    pollMs: (data) => data?.state === 'running' && pollIntervalMs,
  })
  const start = useApiMutation({ method: 'POST', path })
  const calculate = (samePerson: readonly (readonly [string, string])[]): void =>
    start.mutate({ pathParams, body: { samePerson } })
  return (
    <QueryContent query={query}>
      {(measurement) => (
        <Stack>
          {measurement.state === 'running' && (
            <RunningSection measurement={measurement} projectId={project.projectId} />
          )}
          {measurement.state === 'measured' && (
            <MeasurementResult
              key={measurement.measurementId}
              measurement={measurement}
              project={project}
              isStarting={start.isPending}
              onCalculate={calculate}
              onApplied={onApplied}
            />
          )}
          {measurement.state !== 'running' && measurement.state !== 'measured' && (
            <StartSection
              measurement={measurement}
              isStarting={start.isPending}
              onStart={() => calculate([])}
            />
          )}
          <ErrorNotice title="Couldn't start the calculation" error={start.error} />
        </Stack>
      )}
    </QueryContent>
  )
}

type StartProps = {
  readonly measurement: Exclude<ConsoleResponses[typeof path], { state: 'running' | 'measured' }>
  readonly isStarting: boolean
  readonly onStart: () => void
}

function StartSection({ measurement, isStarting, onStart }: StartProps) {
  return (
    <Stack align="flex-start">
      {measurement.state === 'refused' && (
        <Alert role="alert" variant="default" title="This gallery cannot be calibrated">
          {measurement.reason}
        </Alert>
      )}
      {measurement.state === 'failed' && (
        <Alert role="alert" variant="default" title="The calculation failed">
          The log of the server contains the cause.
        </Alert>
      )}
      <Text size="sm">
        Compares all subjects of the gallery with each other and counts how often different people
        reach a score. At least 200 subjects are needed. Nothing changes until you apply the result.
      </Text>
      <Button loading={isStarting} onClick={onStart}>
        Calculate
      </Button>
    </Stack>
  )
}

type RunningProps = { readonly measurement: RunningMeasurement; readonly projectId: string }

function RunningSection({ measurement, projectId }: RunningProps) {
  const { step, done, total } = measurement.progress
  const cancel = useApiMutation({ method: 'DELETE', path })
  return (
    <Stack>
      <Text size="sm" component="output">
        {step === 'templates' ? 'Reading templates' : 'Comparing pairs'}: {formatCount(done)} of{' '}
        {formatCount(total)}
      </Text>
      <Progress
        value={total === 0 ? 0 : (100 * done) / total}
        aria-label="Progress of the calculation"
      />
      <Group>
        <Button
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ pathParams: { projectId } })}
        >
          Cancel calculation
        </Button>
      </Group>
      <ErrorNotice title="Couldn't cancel the calculation" error={cancel.error} />
    </Stack>
  )
}
