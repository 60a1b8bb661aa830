import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { StatusTag, type StatusTone } from '../../components/status-tag.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { Panel } from '../../layout/panel.tsx'
import { useModelCommand, type ModelRun } from './use-model-command.ts'

const states: Readonly<Record<ModelRun['state'], readonly [StatusTone, string]>> = {
  running: ['plain', 'running'],
  done: ['ok', 'done'],
  failed: ['bad', 'failed'],
}

/** The last command of the server with its progress and its output. */
export function CommandPanel() {
  const { run, discard, isDiscarding, discardError } = useModelCommand(true)
  if (!run) return null
  const [tone, text] = states[run.state]
  return (
    <Panel
      title="Last command"
      actions={
        <Button size="xs" variant="default" loading={isDiscarding} onClick={discard}>
          {run.state === 'running' ? 'Stop' : 'Hide'}
        </Button>
      }
    >
      <Stack gap="sm">
        <Group gap="sm">
          <output>
            <StatusTag tone={tone}>{text}</StatusTag>
          </output>
          <span className="fg-mono">{run.commandLine}</span>
        </Group>
        <Text size="sm" c="dimmed">
          Started by {run.startedBy}, <UtcTime timestampUtc={run.startedAtUtc} /> UTC
          {run.state === 'running' && '. It continues when this page is closed'}.
        </Text>
        {run.state === 'running' && <CommandProgress output={run.output} />}
        {run.output !== '' && (
          <pre className="fg-code" tabIndex={0} aria-label="Output">
            {withoutBars(run.output)}
          </pre>
        )}
        <ErrorNotice title="Couldn't stop the command" error={discardError} />
      </Stack>
    </Panel>
  )
}

/** The line of the command line about its progress: a bar, and `12 of 807 images`. */
const progressPattern = /^[█░]+ (?:(\d+) of (\d+) .*)$/gmu

function CommandProgress({ output }: { readonly output: string }) {
  const [, done = '0', total = '0'] = [...output.matchAll(progressPattern)].at(-1) ?? []
  const value = Number(total) === 0 ? 0 : (100 * Number(done)) / Number(total)
  return <Progress value={value} aria-label="Progress of the command" />
}

function withoutBars(output: string): string {
  return output.replaceAll(/^[█░]+ /gmu, '').trim()
}
