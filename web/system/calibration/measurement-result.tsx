import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { MeasuredGalleryTable } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { formatCount } from '../../format/numbers.ts'
import { ApplyMeasurementDialog } from './apply-measurement-dialog.tsx'
import { GroupRates } from './group-rates.tsx'
import { MeasuredRates } from './measured-rates.tsx'
import { pairKeyOf, SuspectedDuplicates } from './suspected-duplicates.tsx'
import type { ScoreTable } from './table-changes.ts'

type Props = {
  readonly measurement: MeasuredGalleryTable
  readonly project: { readonly projectId: string; readonly name: string }
  readonly isStarting: boolean
  /** Starts a calculation without these pairs of subject ids. */
  readonly onCalculate: (samePerson: readonly (readonly [string, string])[]) => void
  readonly onApplied: () => void
}

/** The measured rates, the suspected duplicates, and the application of the table. */
export function MeasurementResult(props: Props) {
  const { measurement, project, isStarting, onCalculate, onApplied } = props
  const { report } = measurement
  const pairs = [...report.excluded, ...report.suspectedDuplicates]
  const excludedKeys = new Set(report.excluded.map(pairKeyOf))
  const [tickedKeys, setTickedKeys] = useState<ReadonlySet<string>>(excludedKeys)
  const [isApplying, setIsApplying] = useState(false)
  const current = useCurrentTable(project.projectId)
  const isChanged = tickedKeys.symmetricDifference(excludedKeys).size > 0
  const calculate = (): void =>
    onCalculate(
      pairs
        .filter((pair) => tickedKeys.has(pairKeyOf(pair)))
        .map(({ subjectA, subjectB }) => [subjectA.subjectId, subjectB.subjectId]),
    )
  return (
    <Stack>
      <Text size="sm">{describeGallery(report)}</Text>
      <MeasuredRates measurement={measurement} current={current} />
      <SuspectedDuplicates
        projectId={project.projectId}
        pairs={pairs}
        tickedKeys={tickedKeys}
        onChange={setTickedKeys}
      />
      <GroupRates groups={report.groups} />
      {isChanged && (
        <Text size="sm">
          The ticked pairs have changed. Calculate again before you apply the table.
        </Text>
      )}
      <Group justify="flex-end">
        <Button variant="default" loading={isStarting} onClick={calculate}>
          Calculate again
        </Button>
        <Button disabled={isChanged} onClick={() => setIsApplying(true)}>
          Apply
        </Button>
      </Group>
      {isApplying && (
        <ApplyMeasurementDialog
          measurement={measurement}
          project={project}
          current={current}
          onApplied={onApplied}
          onClose={() => setIsApplying(false)}
        />
      )}
    </Stack>
  )
}

/** Returns the table that the gallery of a project uses now; undefined if it is that of the model. */
function useCurrentTable(projectId: string): ScoreTable | undefined {
  const models = useApiQuery('/models')
  return models.data?.galleryCalibrations.find(
    ({ isUsed, projects }) => isUsed && projects.some((project) => project.projectId === projectId),
  )?.points
}

function describeGallery(report: MeasuredGalleryTable['report']): string {
  const { modelId, subjects, templates, pairs, sampledFrom, otherFaces, unreadable } = report
  const sample = sampledFrom === null ? '' : `, a random sample of ${formatCount(sampledFrom)}`
  const leftOut = [
    otherFaces > 0 && `${formatCount(otherFaces)} faces with templates of other models only`,
    unreadable > 0 && `${formatCount(unreadable)} templates that cannot be decrypted`,
    report.excluded.length > 0 && `${formatCount(report.excluded.length)} confirmed duplicates`,
  ].filter((text) => text !== false)
  const counts =
    `${modelId}: ${formatCount(subjects)} subjects, ${formatCount(templates)} templates, ` +
    `${formatCount(pairs)} pairs of different subjects${sample}.`
  return leftOut.length === 0 ? counts : `${counts} Left out: ${leftOut.join(', ')}.`
}
