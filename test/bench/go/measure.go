package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
)

type measurement struct {
	Policy policy  `json:"policy"`
	Inputs []input `json:"inputs"`
	Minor  uint    `json:"minor"`
	// So long it is repeated at least.
	Milliseconds int64 `json:"milliseconds"`
}

type policy struct {
	admissionregistrationv1.ValidatingAdmissionPolicy
}

func (p *policy) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &p.ValidatingAdmissionPolicy)
}

type input struct {
	Request   runtimeRequest `json:"request"`
	Object    map[string]any `json:"object"`
	OldObject map[string]any `json:"oldObject"`
	Params    map[string]any `json:"params"`
	Namespace *namespace     `json:"namespace"`
}

// compilation makes the expressions of a policy into programs as compilePolicy of the plugin does.
type compilation struct {
	compiler *cel.CompositedCompiler
	policy   *admissionregistrationv1.ValidatingAdmissionPolicy
}

func newCompilation(asked measurement) (*compilation, error) {
	compiler, err := cel.NewCompositedCompiler(baseEnvironment(asked.Minor))
	if err != nil {
		return nil, err
	}
	return &compilation{compiler, &asked.Policy.ValidatingAdmissionPolicy}, nil
}

func (c *compilation) run() validating.Validator {
	const mode = environment.StoredExpressions
	spec := c.policy.Spec
	declared := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	inMessages := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil}
	for _, one := range spec.Variables {
		c.compiler.CompileAndStoreVariable(&validating.Variable{Name: one.Name, Expression: one.Expression}, declared, mode)
	}
	var matcher matchconditions.Matcher
	if len(spec.MatchConditions) > 0 {
		conditions := make([]cel.ExpressionAccessor, len(spec.MatchConditions))
		for i := range spec.MatchConditions {
			conditions[i] = (*matchconditions.MatchCondition)(&spec.MatchConditions[i])
		}
		matcher = matchconditions.NewMatcher(
			c.compiler.CompileCondition(conditions, declared, mode), spec.FailurePolicy, "policy", "validate", c.policy.Name)
	}
	validations := make([]cel.ExpressionAccessor, len(spec.Validations))
	messages := make([]cel.ExpressionAccessor, len(spec.Validations))
	for i, one := range spec.Validations {
		validations[i] = &validating.ValidationCondition{Expression: one.Expression, Message: one.Message, Reason: one.Reason}
		if one.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: one.MessageExpression}
		}
	}
	annotations := make([]cel.ExpressionAccessor, len(spec.AuditAnnotations))
	for i, one := range spec.AuditAnnotations {
		annotations[i] = &validating.AuditAnnotationCondition{Key: one.Key, ValueExpression: one.ValueExpression}
	}
	return validating.NewValidator(
		c.compiler.CompileCondition(validations, declared, mode), matcher,
		c.compiler.CompileCondition(annotations, declared, mode),
		c.compiler.CompileCondition(messages, inMessages, mode), spec.FailurePolicy, nil)
}

type measuredPolicy struct {
	// Of one validation of one input.
	Nanoseconds float64 `json:"nanoseconds"`
	// Of each input, those that refuse.
	Refusals [][]string `json:"refusals"`
}

func measurePolicy(asked measurement) (any, error) {
	compilation, err := newCompilation(asked)
	if err != nil {
		return nil, err
	}
	validator := compilation.run()
	answer := measuredPolicy{Refusals: make([][]string, len(asked.Inputs))}
	validations := make([]func() validating.ValidateResult, len(asked.Inputs))
	for i := range asked.Inputs {
		validations[i] = validationOf(validator, &asked.Inputs[i])
		answer.Refusals[i] = []string{}
		for _, one := range validations[i]().Decisions {
			if one.Action == validating.ActionDeny {
				answer.Refusals[i] = append(answer.Refusals[i], one.Message)
			}
		}
	}
	rounds, took := repeat(asked.Milliseconds, func() {
		for _, validate := range validations {
			validate()
		}
	})
	answer.Nanoseconds = took / float64(rounds*max(len(validations), 1))
	return answer, nil
}

func validationOf(validator validating.Validator, in *input) func() validating.ValidateResult {
	request := &in.Request.AdmissionRequest
	attributes := attributesOf(request, in.Object, in.OldObject)
	var params runtime.Object
	if in.Params != nil {
		params = &unstructured.Unstructured{Object: in.Params}
	}
	ns := &namespace{}
	if in.Namespace != nil {
		ns = in.Namespace
	}
	return func() validating.ValidateResult {
		return validator.Validate(
			context.Background(), schema.GroupVersionResource(request.Resource), attributes, params, &ns.Namespace,
			celconfig.RuntimeCELCostBudget, authorizer.AuthorizerFunc(noOpinion))
	}
}

func measureCompile(asked measurement) (any, error) {
	// The environments, which the API server builds for each policy too, are not counted.
	compilation, err := newCompilation(asked)
	if err != nil {
		return nil, err
	}
	if compilation.run() == nil {
		return nil, fmt.Errorf("nothing compiled")
	}
	rounds, took := repeat(asked.Milliseconds, func() { compilation.run() })
	return map[string]any{"nanoseconds": took / float64(rounds)}, nil
}

// repeat runs at least twice, the first time unmeasured.
func repeat(milliseconds int64, run func()) (rounds int, nanoseconds float64) {
	run()
	start := time.Now()
	limit := time.Duration(milliseconds) * time.Millisecond
	for rounds == 0 || time.Since(start) < limit {
		run()
		rounds++
	}
	return rounds, float64(time.Since(start).Nanoseconds())
}
