"""Names of fields, parts, and attributes that services use for reasoning, tools, and metadata, but not for shown
text."""

from __future__ import annotations

OPENAI = """
reasoning reasoning_content reasoning_details reasoning_text reasoning_summary summary_text encrypted_content
chain_of_thought cot_summary internal_monologue scratchpad tool_calls tool_call function_call function_call_output
custom_tool_call custom_tool_call_output computer_call computer_call_output web_search_call file_search_call
code_interpreter_call local_shell_call image_generation_call mcp_call mcp_list_tools mcp_approval_request
mcp_approval_response annotations logprobs top_logprobs system_fingerprint service_tier prompt_cache_key
safety_identifier usage completion_tokens_details finish_reason output_parsed parsed audio_transcript
previous_response_id instructions prompt_variables item_reference container_file_citation url_citation
"""
ANTHROPIC = """
thinking signature redacted_thinking tool_use tool_result server_tool_use mcp_tool_use mcp_tool_result
web_search_tool_result web_fetch_tool_result code_execution_tool_result bash_code_execution_tool_result
text_editor_code_execution_tool_result search_result container_upload cache_control citations stop_reason
stop_sequence context_management compaction fallback tool_reference caller
"""
GOOGLE = """
thought thoughtSignature thought_signature functionCall functionResponse executableCode codeExecutionResult
executable_code code_execution_result groundingMetadata groundingChunks groundingSupports citationMetadata
safetyRatings promptFeedback usageMetadata thoughtsTokenCount urlContextMetadata searchEntryPoint avgLogprobs
logprobsResult finishMessage cachedContent toolConfig videoMetadata
"""
HUGGING_FACE = """
tool_responses tool_plan tools documents rejected rejected_messages prompt_token_ids token_ids loss_mask
generation_details prefill tokens weight score label rationale cot critique reward preference source_prompt
chat_template_kwargs thinking_budget special_tokens
"""
OPEN_TELEMETRY = """
gen_ai.system_instructions gen_ai.tool.definitions gen_ai.tool.call.arguments gen_ai.tool.call.result
gen_ai.tool.call.id gen_ai.tool.name gen_ai.request.model gen_ai.response.id gen_ai.response.finish_reasons
gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.conversation.id gen_ai.agent.id gen_ai.agent.name
gen_ai.operation.name gen_ai.provider.name gen_ai.output.type gen_ai.evaluation.explanation tool_call_response
server_tool_call server_tool_call_response llm.invocation_parameters input.value output.value metadata session.id
ai.response.reasoning ai.toolCall.args ai.toolCall.result ai.telemetry.metadata
"""
AWS = """
reasoningContent reasoningText redactedContent toolUse toolResult toolUseId guardContent cachePoint
citationsContent searchResult additionalModelResponseFields trace guardrailTrace performanceConfig
modelInvocationId invocationMetrics requestMetadata
"""
OTHERS = """
tool-call tool-result toolInvocation tool-approval-request source-url data-status step-start experimental_attachments
providerMetadata providerOptions providerExecuted callProviderMetadata debug_info mood plan memory
"""

NAMES = f"{OPENAI} {ANTHROPIC} {GOOGLE} {HUGGING_FACE} {OPEN_TELEMETRY} {AWS} {OTHERS}".split()
"""The names of all services. A test counts them."""
