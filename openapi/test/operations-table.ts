/**
 * Every operation that the contract must hold: method, path, operationId, permission, success status, and the statuses
 * particular to it. Those that the rule `operation-statuses` asks for are left out.
 */
const TABLE = `
GET /v1/telephony/phone-numbers listPhoneNumbers phone_numbers:read 200
GET /v1/telephony/available-phone-numbers searchAvailablePhoneNumbers phone_numbers:read 200 502
POST /v1/telephony/phone-numbers/buy buyPhoneNumber phone_numbers:buy 201 402 409 502
POST /v1/telephony/phone-numbers/import/manual importPhoneNumbers phone_numbers:write 201
GET /v1/telephony/phone-numbers/{id} getPhoneNumber phone_numbers:read 200 404
PATCH /v1/telephony/phone-numbers/{id} updatePhoneNumber phone_numbers:write 200 404
DELETE /v1/telephony/phone-numbers/{id} releasePhoneNumber phone_numbers:write 200 404 409 502
POST /v1/telephony/phone-numbers/{id}/test-call startTestCall calls:write 202 404 409
GET /v1/telephony/test-calls/{roomId} getTestCall calls:read 200 404

GET /v1/telephony/providers listProviders phone_numbers:read 200
GET /v1/telephony/providers/{provider} getProvider phone_numbers:read 200 404
PUT /v1/telephony/providers/{provider} saveProviderAccount phone_numbers:buy 200 404 409 502
DELETE /v1/telephony/providers/{provider} deleteProviderAccount phone_numbers:buy 200 404 409

GET /v1/telephony/trunks listTrunks phone_numbers:read 200
POST /v1/telephony/trunks createTrunk phone_numbers:write 201 409
GET /v1/telephony/trunks/{trunkId} getTrunk phone_numbers:read 200 404
PATCH /v1/telephony/trunks/{trunkId} updateTrunk phone_numbers:write 200 404 409
DELETE /v1/telephony/trunks/{trunkId} deleteTrunk phone_numbers:write 200 404 409
GET /v1/telephony/trunks/{trunkId}/validate validateTrunk phone_numbers:read 200 404
POST /v1/telephony/trunks/{trunkId}/pause pauseTrunk phone_numbers:write 200 404
POST /v1/telephony/trunks/{trunkId}/resume resumeTrunk phone_numbers:write 200 404

GET /v1/search search authenticated 200

GET /v1/people/{phoneNumber} getPerson contact_lists:read 200 404

GET /v1/number-pools listNumberPools number_pools:read 200
POST /v1/number-pools createNumberPool number_pools:write 201 404 409
GET /v1/number-pools/{id} getNumberPool number_pools:read 200 404
PATCH /v1/number-pools/{id} updateNumberPool number_pools:write 200 404 409
DELETE /v1/number-pools/{id} deleteNumberPool number_pools:write 200 404 409
GET /v1/number-pools/{id}/members listNumberPoolMembers number_pools:read 200 404
POST /v1/number-pools/{id}/members/move moveNumberPoolMember number_pools:write 200 404 409
GET /v1/number-pools/{id}/validate-trunks validateNumberPoolTrunks number_pools:read 200 404

GET /v1/workflows listWorkflows workflows:read 200
POST /v1/workflows createWorkflow workflows:write 201 404 409
GET /v1/workflows/{workflowId} getWorkflow workflows:read 200 404
PUT /v1/workflows/{workflowId} replaceWorkflowDraft workflows:write 200 404 409
DELETE /v1/workflows/{workflowId} deleteWorkflow workflows:write 200 404 409
POST /v1/workflows/{workflowId}/publish publishWorkflow workflows:write 200 404 400
GET /v1/workflows/{workflowId}/versions listWorkflowVersions workflows:read 200 404
POST /v1/workflows/{workflowId}/run startWorkflowRun workflows:run 202 404 409
GET /v1/workflows/{workflowId}/runs listWorkflowRuns workflows:read 200 404
GET /v1/workflows/{workflowId}/runs/{runId} getWorkflowRun workflows:read 200 404
GET /v1/workflows/{workflowId}/runs/{runId}/events streamWorkflowRunEvents workflows:read 200 204 404
POST /v1/workflows/{workflowId}/runs/{runId}/cancel cancelWorkflowRun workflows:run 200 404 409
POST /v1/workflows/{workflowId}/runs/wake wakeWorkflowRuns workflows:run 200 404
GET /v1/workflow-runs listRuns workflows:read 200
GET /v1/workflow-runs/{runId} getRun workflows:read 200 404
GET /v1/workflow-runs/{runId}/events streamRunEvents workflows:read 200 204 404
POST /v1/workflow-runs/{runId}/cancel cancelRun workflows:run 200 404 409

GET /v1/calls/contact-lists listContactLists contact_lists:read 200
POST /v1/calls/contact-lists createContactList contact_lists:write 201 404 409
GET /v1/calls/contact-lists/{id} getContactList contact_lists:read 200 404
PATCH /v1/calls/contact-lists/{id} updateContactList contact_lists:write 200 404 409
DELETE /v1/calls/contact-lists/{id} deleteContactList contact_lists:write 200 404 409
GET /v1/calls/contact-lists/{id}/entries listContactListEntries contact_lists:read 200 404
POST /v1/calls/contact-lists/{id}/entries addContactListEntries contact_lists:write 200 404 409
GET /v1/calls/contact-lists/{id}/entries/{phoneNumber} getContactListEntry contact_lists:read 200 404
PATCH /v1/calls/contact-lists/{id}/entries/{phoneNumber} updateContactListEntry contact_lists:write 200 404 409
DELETE /v1/calls/contact-lists/{id}/entries/{phoneNumber} removeContactListEntry contact_lists:write 200 404 409
GET /v1/calls/contact-lists/{id}/uploads listContactListUploads contact_lists:read 200 404
POST /v1/calls/contact-lists/{id}/uploads createContactListUpload contact_lists:write 201 404 409
GET /v1/calls/contact-lists/{id}/uploads/{uploadID} getContactListUpload contact_lists:read 200 404
PATCH /v1/calls/contact-lists/{id}/uploads/{uploadID} updateContactListUpload contact_lists:write 200 404 409
GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/preview previewContactListUpload contact_lists:read 200 404 409
GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/rejected-rows listRejectedContactListRows contact_lists:read 200 404 409
PATCH /v1/calls/contact-lists/{id}/uploads/{uploadID}/rejected-rows/{row} mendRejectedContactListRow contact_lists:write 200 404 409
GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/events streamContactListUploadEvents contact_lists:read 200 204 404
POST /v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm confirmContactListUpload contact_lists:write 200 404 409

GET /v1/calls/do-not-call listDoNotCall do_not_call:read 200
POST /v1/calls/do-not-call addDoNotCall do_not_call:write 200
DELETE /v1/calls/do-not-call/{phoneNumber} removeDoNotCall do_not_call:write 200 404

GET /v1/calls/campaigns listCampaigns campaigns:read 200
POST /v1/calls/campaigns createCampaign campaigns:write 201 404 409
GET /v1/calls/campaigns/{id} getCampaign campaigns:read 200 404
PATCH /v1/calls/campaigns/{id} updateCampaign campaigns:write 200 404 409
DELETE /v1/calls/campaigns/{id} deleteCampaign campaigns:write 200 404 409
POST /v1/calls/campaigns/{id}/start startCampaign campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/pause pauseCampaign campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/resume resumeCampaign campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/stop stopCampaign campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/unschedule unscheduleCampaign campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/cancel cancelCampaign campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/preview previewCampaign campaigns:read 200 404
GET /v1/calls/campaigns/{id}/contacts listCampaignContacts campaigns:read 200 404
POST /v1/calls/campaigns/{id}/contacts/redial redialCampaignContacts campaigns:run 200 404 409
POST /v1/calls/campaigns/{id}/contacts/{contactId}/skip skipCampaignContact campaigns:run 200 404
GET /v1/calls/campaigns/{id}/stats getCampaignStats campaigns:read 200 404
GET /v1/calls/campaigns/{id}/events streamCampaignEvents campaigns:read 200 204 404

POST /v1/calls/batch startBatch calls:write 202 404 409
GET /v1/calls/batch listBatches calls:read 200
GET /v1/calls/batch/{batchId} getBatch calls:read 200 404
GET /v1/calls/batch/{batchId}/recipients listBatchRecipients calls:read 200 404
DELETE /v1/calls/batch/{batchId} deleteBatch calls:write 200 404 409
POST /v1/calls/batch/{batchId}/pause pauseBatch calls:write 200 404 409
POST /v1/calls/batch/{batchId}/resume resumeBatch calls:write 200 404 409
POST /v1/calls/batch/{batchId}/cancel cancelBatch calls:write 200 404 409
POST /v1/calls createCall calls:write 202 404 409
GET /v1/calls listCalls calls:read 200
GET /v1/calls/stats getCallStats calls:read 200
GET /v1/calls/{roomId} getCall calls:read 200 404
POST /v1/calls/{roomId}/end endCall calls:write 200 404 409
POST /v1/calls/{roomId}/dtmf sendCallDtmf calls:write 202 404 409
GET /v1/calls/{roomId}/dtmf/{dtmfId} getCallDtmf calls:read 200 404
POST /v1/calls/{roomId}/listen listenToCall calls:listen 201 404 409
POST /v1/calls/{roomId}/transfer transferCall calls:transfer 202 404 409
GET /v1/calls/{roomId}/transfer/{transferId} getCallTransfer calls:read 200 404
GET /v1/calls/{roomId}/sip getCallSip calls:read 200 404
GET /v1/calls/{roomId}/recording/peaks getCallRecordingPeaks calls:read 200 404 409
DELETE /v1/calls/{roomId}/recording deleteCallRecording calls:write 200 404 409
POST /v1/calls/{roomId}/result recordCallResult calls:write 200 404 409
POST /2010-04-01/Accounts/{accountSid}/Calls/{callSid} completeCall calls:write 200 404

GET /v1/exports listExports calls:read 200
POST /v1/exports createExport calls:read 202 404 409
GET /v1/exports/{exportId} getExport calls:read 200 404
DELETE /v1/exports/{exportId} deleteExport calls:read 200 404

POST /v1/erasures createErasure erasures:write 202 409
GET /v1/erasures listErasures erasures:read 200
GET /v1/erasures/{erasureId} getErasure erasures:read 200 404

GET /v1/knowledge-bases listKnowledgeBases knowledge_bases:read 200
POST /v1/knowledge-bases createKnowledgeBase knowledge_bases:write 201 404 409
GET /v1/knowledge-bases/{kbId} getKnowledgeBase knowledge_bases:read 200 404
PATCH /v1/knowledge-bases/{kbId} updateKnowledgeBase knowledge_bases:write 200 404
DELETE /v1/knowledge-bases/{kbId} deleteKnowledgeBase knowledge_bases:write 200 404
POST /v1/knowledge-bases/{kbId}/documents addKnowledgeBaseDocuments knowledge_bases:write 201 404 413
GET /v1/knowledge-bases/{kbId}/documents/{docId} getKnowledgeBaseDocument knowledge_bases:read 200 404
DELETE /v1/knowledge-bases/{kbId}/documents/{docId} deleteKnowledgeBaseDocument knowledge_bases:write 200 404
POST /v1/knowledge-bases/{kbId}/search searchKnowledgeBase knowledge_bases:read 200 404

GET /v1/sounds listSounds agents:read 200
POST /v1/sounds createSound agents:write 201 409 413
GET /v1/sounds/{soundId} getSound agents:read 200 404
DELETE /v1/sounds/{soundId} deleteSound agents:write 200 404 409

GET /v1/agents listAgents agents:read 200
POST /v1/agents createAgent agents:write 201 404 409
GET /v1/agents/{agentId} getAgent agents:read 200 404
PATCH /v1/agents/{agentId} updateAgent agents:write 200 404 409
DELETE /v1/agents/{agentId} deleteAgent agents:write 200 404 409
POST /v1/agents/{agentId}/test testAgent agents:write 200 404
POST /v1/agents/{agentId}/talk talkToAgent agents:write 201 404

GET /v1/webhooks listWebhooks webhooks:read 200
POST /v1/webhooks createWebhook webhooks:write 201 404 409
GET /v1/webhooks/{webhookId} getWebhook webhooks:read 200 404
PATCH /v1/webhooks/{webhookId} updateWebhook webhooks:write 200 404
DELETE /v1/webhooks/{webhookId} deleteWebhook webhooks:write 200 404
POST /v1/webhooks/{webhookId}/rotate-secret rotateWebhookSecret webhooks:write 200 404
POST /v1/webhooks/{webhookId}/test testWebhook webhooks:write 200 404
GET /v1/webhooks/{webhookId}/deliveries listWebhookDeliveries webhooks:read 200 404
POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay replayWebhookDelivery webhooks:write 202 404

GET /v1/api-keys listApiKeys api_keys:read 200
POST /v1/api-keys createApiKey api_keys:write 201
DELETE /v1/api-keys/{keyId} revokeApiKey api_keys:write 200 404
GET /v1/members listMembers members:read 200
POST /v1/members createMember members:write 201
GET /v1/members/{memberId} getMember members:read 200 404
PATCH /v1/members/{memberId} updateMember members:write 200 404 409
DELETE /v1/members/{memberId} deleteMember members:write 200 404 409
GET /v1/sessions listSessions api_keys:read 200
POST /v1/sign-ins startSignIn anyone 200 409 502
POST /v1/sessions createSession anyone 201 409 502
DELETE /v1/sessions/{sessionId} revokeSession api_keys:write 200 404
GET /v1/session getCurrentSession authenticated 200
DELETE /v1/session endCurrentSession authenticated 200 404
POST /v1/stream-tokens createStreamToken authenticated 201
GET /v1/events listEvents authenticated 200 409 410
GET /v1/events/stream streamEvents authenticated 200 409 410
GET /v1/audit-log listAuditLog audit_log:read 200
GET /v1/workspace getWorkspace authenticated 200
PATCH /v1/workspace updateWorkspace workspace:write 200
POST /v1/workspace/pause-dialing pauseDialing campaigns:run 200
POST /v1/workspace/resume-dialing resumeDialing campaigns:run 200
POST /v1/workspace/rotate-inbound-secret rotateInboundSecret webhooks:write 200
GET /v1/operator/status getOperatorStatus operator 200 404
`;

/** One operation of the table. */
export interface OperationRow {
  method: string;
  path: string;
  operationId: string;
  permission: string;
  statuses: string[];
}

export const OPERATIONS: OperationRow[] = TABLE.trim()
  .split(/\n+/)
  .map((line) => {
    const [method, path, operationId, permission, ...statuses] = line.split(' ');
    return { method: method!, path: path!, operationId: operationId!, permission: permission!, statuses };
  });
